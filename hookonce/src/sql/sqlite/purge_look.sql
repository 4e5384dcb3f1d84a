-- On the inbox file. Contents that came under the same key keep it alive, and a further event of it is the first to go.
select e.id, e.source, e.received, e.payload, e.span_start is not null,
  max(e.received, coalesce(l.last_seen, 0), coalesce((select max(c.last_seen) from hookonce_conflict c where c.digest = e.digest), 0)),
  exists (select 1 from hookonce_payload p where p.id = e.payload)
    or (e.variant = 0 and exists (select 1 from hookonce_conflict c where c.digest = e.digest and c.event is not null)),
  e.namespace, e.event_time, e.digest, e.variant, e.guard
from hookonce_event e left join hookonce_ledger l on l.digest = e.digest
where e.id > ?1 and e.id <= ?2 order by e.id limit ?3
