-- In a statement of its own, behind the locks: which of them are there at all.
select d.lane, d.seq
from unnest($1::int8[], $2::int8[]) as c (lane, behind)
join hookonce.delivery d on d.lane = c.lane and d.seq = c.behind
