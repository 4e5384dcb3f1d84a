-- Mirrors M5
-- Several checks may find the same delivery: a double would fail every pass for ever.
insert into hookonce.work (seq, id, lane, event, consumer, generation, repeat, due, decided)
select distinct d.seq, d.id, d.lane, d.event, d.consumer, d.generation, d.repeat, (select hookonce.now_us()), d.decided
from unnest($1::int8[], $2::int8[]) as c (lane, behind)
cross join lateral (select * from hookonce.delivery n
  where n.lane = c.lane and n.seq > c.behind and n.open order by n.lane, n.seq limit 1) d
where not exists (select 1 from hookonce.work w where w.seq = d.seq)
  and not exists (select 1 from hookonce.halted h where h.id = d.id)
returning consumer
