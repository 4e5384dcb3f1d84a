-- Where consumers begin that no pass has listed yet: for people the event at that position, or the one that will get it.
select c.id, coalesce((select l.event from hookonce.log l where l.pos = c.from_pos),
  (select a.event from hookonce.arrival a where c.from_pos > m.pos order by a.event
    offset greatest(c.from_pos - m.pos - 1, 0) limit 1), 0), c.state
from hookonce.consumer c, (select coalesce(max(pos), 0) as pos from hookonce.log) m
order by c.id, c.number
