-- Mirrors M4
-- The row stays the head of its lane, so no delivery is locked.
with kept as (update hookonce.work w
  set due = (select hookonce.now_us()) + a.delay, token = null, owner = null, attempts = a.attempts,
    since = coalesce(w.since, case when a.counted then (select hookonce.now_us()) end)
  from unnest($1::int8[], $2::int8[], $3::bytea[], $4::int8[], $6::int8[], $7::bool[], $8::int8[], $9::int8[], $10::int8[],
      $11::text[], $12::text[])
    as a (seq, epoch, token, store, delay, counted, attempts, started, ended, outcome, detail)
  where w.seq = a.seq and w.epoch = a.epoch and w.token = a.token and a.store = $5
  returning w.seq, w.id, a.started, a.ended, a.outcome, a.detail),
tried as (insert into hookonce.attempt (delivery, no, started, ended, outcome, detail)
  select k.id, (select count(*) + 1 from hookonce.attempt a where a.delivery = k.id), k.started, k.ended, k.outcome, k.detail
  from kept k)
select seq from kept
