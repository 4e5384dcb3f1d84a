-- Contents that came under the same key keep it alive, and a further event of it is the first to go.
select e.id, e.source, e.received, e.payload, e.span_start is not null,
  greatest(e.received, (select l.last_seen from hookonce.ledger l where l.digest = e.digest),
    (select max(c.last_seen) from hookonce.conflict c where c.digest = e.digest)),
  exists (select 1 from hookonce.payload p where p.id = e.payload)
    or (e.variant = 0 and exists (select 1 from hookonce.conflict c where c.digest = e.digest and c.event is not null)),
  e.namespace, e.event_time, e.digest, e.variant, e.guard,
  (select g.pos from hookonce.log g where g.event = e.id)
from hookonce.event e where e.id = any($1) order by e.id
