-- Never waits for a settle: what is not returned is noted in lane_check. `open` is as of the lock.
select d.lane, d.seq, d.open
from unnest($1::int8[], $2::int8[]) as t (lane, seq)
join hookonce.delivery d on d.lane = t.lane and d.seq = t.seq
order by d.lane, d.seq for no key update of d skip locked
