-- Events that a person released, with their place in the log.
select e.id, l.pos, e.source, e.namespace, e.type, e.aggregate, e.hold_reason, e.origin, h.reason, h.released
from unnest($1::int8[]) as r (event)
join hookonce.event e on e.id = r.event
join hookonce.log l on l.event = r.event
left join hookonce.hold h on h.event = r.event
