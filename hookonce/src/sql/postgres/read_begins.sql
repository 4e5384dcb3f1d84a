-- Where consumers begin that no pass has listed yet: for people the event at that position.
select c.id, coalesce((select l.event from hookonce.log l where l.pos = c.from_pos), 0), c.state
from hookonce.consumer c order by c.id, c.number
