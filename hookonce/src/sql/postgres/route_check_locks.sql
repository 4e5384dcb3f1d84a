-- What is locked here has no settle at work; what is not returned, somebody holds or it is gone.
select d.lane, d.seq, d.open
from unnest($1::int8[], $2::int8[]) as c (lane, behind)
join hookonce.delivery d on d.lane = c.lane and d.seq = c.behind
order by d.lane, d.seq for no key update of d skip locked
