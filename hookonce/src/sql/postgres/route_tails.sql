-- The newest delivery of a lane is the lane's end. Whether it is open is not asked here: nothing is locked yet.
select t.lane, t.seq
from unnest($1::int8[]) as l (lane)
cross join lateral (select d.lane, d.seq from hookonce.delivery d
  where d.lane = l.lane order by d.lane desc, d.seq desc limit 1) t
