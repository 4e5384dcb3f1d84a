-- Rare, at a start: the position before the first event received at $1 or later; behind all of them if there is none, or
-- if no time is asked for. What waits for the router gets the next positions in its order.
with passed as (select coalesce((select pos from hookonce.pass where own is null order by n desc limit 1), 0) as pos),
waiting as (
  select a.event, (select pos from passed) + row_number() over (order by a.event) as pos from hookonce.arrival a)
select coalesce(
  (select min(l.pos) - 1 from hookonce.log l join hookonce.event e on e.id = l.event where e.received >= $1::bigint),
  (select min(w.pos) - 1 from waiting w join hookonce.event e on e.id = w.event where e.received >= $1::bigint),
  (select max(w.pos) from waiting w),
  (select pos from passed))
