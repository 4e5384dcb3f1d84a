-- Mirrors M4
-- The row stays the head of its lane, so no delivery is locked. History is numbered and bounded (`$13`)
-- as in `claim`.
with kept as (update hookonce.work w
  set due = (select hookonce.now_us()) + a.delay, token = null, owner = null, attempts = a.attempts,
    since = coalesce(w.since, case when a.counted then (select hookonce.now_us()) end)
  from unnest($1::int8[], $2::int8[], $3::bytea[], $4::int8[], $6::int8[], $7::bool[], $8::int8[], $9::int8[], $10::int8[],
      $11::text[], $12::text[])
    as a (seq, epoch, token, store, delay, counted, attempts, started, ended, outcome, detail)
  where w.seq = a.seq and w.epoch = a.epoch and w.token = a.token and a.store = $5
  returning w.seq, w.id, a.started, a.ended, a.outcome, a.detail),
last as materialized (select k.id as delivery, l.id, l.no from kept k
  cross join lateral (select a.id, a.no from hookonce.attempt a where a.delivery = k.id
    order by a.delivery desc, a.id desc limit 1) l),
replaced as (delete from hookonce.attempt a using last l where a.id = l.id and l.no >= $13),
tried as (insert into hookonce.attempt (delivery, no, started, ended, outcome, detail)
  select k.id, coalesce(l.no, 0) + 1, k.started, k.ended, k.outcome, k.detail
  from kept k left join last l on l.delivery = k.id)
select seq from kept
