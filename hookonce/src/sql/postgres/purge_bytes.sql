-- Of bytes that events of one request share: the last of these, and whether somebody has yet to decide about them.
select b.id, (select max(e.id) from hookonce.event e where e.payload = b.id and e.span_start is not null),
  exists (select 1 from hookonce.unmapped u where u.payload = b.id and u.decided is null)
from unnest($1::bigint[]) as b(id)
