-- Only what does not hold its lane goes to the tail. What somebody holds is not waited for.
select h.id, d.lane, d.seq, d.event, d.consumer, d.generation, h.epoch
from unnest($1::int8[]) as m (id)
join hookonce.halted h on h.id = m.id
join hookonce.delivery d on d.lane = h.lane and d.seq = h.seq
where not d.open
order by d.lane, d.seq for update of h, d skip locked
