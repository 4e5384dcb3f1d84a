-- Bytes that nothing names any more.
delete from hookonce_payload where id = ?1
  and not exists (select 1 from hookonce_unmapped u where u.payload = ?1)
  and not exists (select 1 from hookonce_event e where e.payload = ?1 and e.span_start is not null)
