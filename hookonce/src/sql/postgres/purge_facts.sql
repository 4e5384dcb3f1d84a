-- Mirrors M6
-- `open` alone would say too little: what is parked or dead may have left its lane.
select g.id,
  exists (select 1 from hookonce.delivery d where d.event = g.id
    and (d.open or exists (select 1 from hookonce.halted h where h.id = d.id)))
  or exists (select 1 from hookonce.hold o where o.event = g.id and o.released is null)
  or exists (select 1 from hookonce.requeue r where r.event = g.id),
  (select max(d.ended) from hookonce.delivery d where d.event = g.id)
from unnest($1::bigint[]) as g(id)
