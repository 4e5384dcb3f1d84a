-- How far each consumer has got: for people the event at that position.
select p.n, coalesce((select l.event from hookonce.log l where l.pos = p.pos), 0), p.own, p.consumers
from hookonce.pass p order by p.n
