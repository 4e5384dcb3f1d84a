-- Behind the hint; each gets the next place in the log. First the queue, then its events, or the planner walks over all
-- events there are. Without the payload.
with a as materialized (select event from hookonce.arrival where event > $1 order by event limit $2)
select e.id, e.source, e.namespace, e.type, e.aggregate, e.hold_reason, e.origin
from a join hookonce.event e on e.id = a.event order by a.event
