-- Mirrors M4
-- Mirrors M5
-- Everything is taken from `gone`: a fenced head changes nothing. Under an isolation that reads an older snapshot who is
-- next may not be seen yet: then the router asks the lane again. History is numbered and bounded (`$15`) as in `claim`.
with gone as materialized (delete from hookonce.work w
  using unnest($1::int8[], $2::int8[], $3::bytea[], $4::int8[], $6::bool[], $7::text[], $8::int8[], $9::text[], $10::text[],
      $11::int8[], $12::int8[], $13::text[], $14::text[])
    as a (seq, epoch, token, store, open, state, attempts, kind, reason, started, ended, outcome, detail)
  where w.seq = a.seq and w.epoch = a.epoch and w.token = a.token and a.store = $5
  returning w.seq, w.id, w.lane, w.consumer, w.event, w.generation, w.lost, w.epoch, a.open, a.state, a.attempts, a.kind,
    a.reason, a.started, a.ended, a.outcome, a.detail),
clock as materialized (select hookonce.now_us() as now),
ended as (update hookonce.delivery d
  set open = g.open, state = g.state, attempts = g.attempts, ended = (select now from clock)
  from gone g where d.lane = g.lane and d.seq = g.seq),
halted as (insert into hookonce.halted
    (id, seq, lane, consumer, event, generation, kind, reason, since, attempts, lost, epoch)
  select id, seq, lane, consumer, event, generation, kind, reason, (select now from clock), attempts, lost, epoch
  from gone where kind is not null),
last as materialized (select g.id as delivery, l.id, l.no from gone g
  cross join lateral (select a.id, a.no from hookonce.attempt a where a.delivery = g.id
    order by a.delivery desc, a.id desc limit 1) l),
replaced as (delete from hookonce.attempt a using last l where a.id = l.id and l.no >= $15),
tried as (insert into hookonce.attempt (delivery, no, started, ended, outcome, detail)
  select g.id, coalesce(l.no, 0) + 1, g.started, g.ended, g.outcome, g.detail
  from gone g left join last l on l.delivery = g.id),
next as (insert into hookonce.work (seq, id, lane, event, consumer, generation, repeat, due, decided)
  select d.seq, d.id, d.lane, d.event, d.consumer, d.generation, d.repeat, (select now from clock), d.decided
  from gone g
  cross join lateral (select * from hookonce.delivery n
    where n.lane = g.lane and n.seq > g.seq and n.open order by n.lane, n.seq limit 1) d
  where not g.open and g.lane < 0
    and not exists (select 1 from hookonce.work w where w.seq = d.seq)
    and not exists (select 1 from hookonce.halted h where h.id = d.id)
  returning lane),
unsure as (insert into hookonce.lane_check (lane, behind)
  select g.lane, g.seq from gone g
  where not g.open and g.lane < 0 and current_setting('transaction_isolation') <> 'read committed'
    and not exists (select 1 from next n where n.lane = g.lane))
select seq from gone
