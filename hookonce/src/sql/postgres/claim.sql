-- Mirrors M3
-- Due and not to be left alone, oldest first; a token that is still set is a lease that ended without an outcome. `$3` is
-- a low mark: under somebody's old snapshot the index keeps every entry that was due before. Who is paused or left gets
-- nothing. A row of history is numbered behind the newest; from so many on (`$8`) it takes that one's place.
with clock as materialized (select hookonce.now_us() as now),
c as materialized (select w.seq, w.due, w.token from hookonce.work w
  where w.consumer = $1 and w.due <= (select now from clock) and w.due > $3 and w.lost < $4
    and coalesce((select s.state from hookonce.consumer s where s.id = $1 order by s.number desc limit 1), 'live') = 'live'
  order by w.due, w.seq limit $5 for update skip locked),
t as materialized (select c.*, ($2::bytea[])[(row_number() over (order by c.due, c.seq))::int4] as fresh from c),
lost as materialized (select w.id, t.due, l.id as last, coalesce(l.no, 0) as no
  from t join hookonce.work w on w.seq = t.seq
  left join lateral (select a.id, a.no from hookonce.attempt a where a.delivery = w.id
    order by a.delivery desc, a.id desc limit 1) l on true
  where t.token is not null),
replaced as (delete from hookonce.attempt a using lost l where a.id = l.last and l.no >= $8),
history as (insert into hookonce.attempt (delivery, no, started, ended, outcome, detail)
  select id, no + 1, due, (select now from clock), 'lost', 'the lease ended without an outcome' from lost)
update hookonce.work w set due = (select now from clock) + $6, epoch = w.epoch + 1,
  lost = w.lost + case when t.token is null then 0 else 1 end, token = t.fresh, owner = $7
from t where w.seq = t.seq
returning w.seq, w.id, w.token, w.lane, w.event, w.generation, w.attempts, w.lost, w.since, w.decided, w.epoch, t.due,
  (select now from clock)
