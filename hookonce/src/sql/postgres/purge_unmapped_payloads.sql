-- Bytes that nothing names any more.
delete from hookonce.payload p where p.id = any($1)
  and not exists (select 1 from hookonce.unmapped u where u.payload = p.id)
  and not exists (select 1 from hookonce.event e where e.payload = p.id and e.span_start is not null)
