-- Mirrors M5
-- The key refuses a second head; asked for it here, the statement would be read into a table of its own first.
insert into hookonce_work (seq, id, lane, event, consumer, generation, repeat, due, decided)
select d.seq, d.id, d.lane, d.event, d.consumer, d.generation, d.repeat, ?3, d.decided
from (select * from hookonce_delivery indexed by hookonce_delivery_lane
  where lane = ?1 and seq > ?2 and open = 1 order by seq limit 1) d
where not exists (select 1 from hookonce_halted h where h.id = d.id)
on conflict (seq) do nothing
