-- Then the deliveries that leave their lanes, so that a router that appends behind one of them is over before the next
-- statement looks for who is next. Lock and look in one statement would look with the snapshot from before the wait.
select 1 from unnest($1::int8[], $2::int8[]) as a (lane, seq)
join hookonce.delivery d on d.lane = a.lane and d.seq = a.seq
order by d.lane, d.seq for no key update of d
