-- For a consumer that catches up: the log by position, with the holds that it meets.
select e.id, l.pos, e.source, e.namespace, e.type, e.aggregate, e.hold_reason, e.origin, h.reason, h.released
from hookonce.log l
join hookonce.event e on e.id = l.event
left join hookonce.hold h on h.event = l.event
where l.pos > $1 and l.pos <= $2 order by l.pos limit $3
