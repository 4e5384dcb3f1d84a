-- In a statement of its own, behind the locks: which of them are there at all.
select h.id
from unnest($1::int8[]) as m (id)
join hookonce.halted h on h.id = m.id
join hookonce.delivery d on d.lane = h.lane and d.seq = h.seq
where not d.open
