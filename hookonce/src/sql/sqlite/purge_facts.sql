-- Mirrors M6
-- `open` alone would say too little: what is parked or dead may have left its lane.
select
  exists (select 1 from hookonce_delivery d where d.event = ?1
    and (d.open = 1 or exists (select 1 from hookonce_halted h where h.id = d.id)))
  or exists (select 1 from hookonce_hold o where o.event = ?1 and o.released is null)
  or exists (select 1 from hookonce_requeue r where r.event = ?1),
  (select max(d.ended) from hookonce_delivery d where d.event = ?1)
