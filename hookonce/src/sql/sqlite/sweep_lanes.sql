-- Mirrors M5
-- Closed deliveries of a lane stand before the open ones, so the one just before says whether this is the head.
select d.seq, d.lane from hookonce_delivery d
where d.seq > ?1 and d.seq <= ?2 and d.open = 1
  and not exists (select 1 from hookonce_work w where w.seq = d.seq)
  and not exists (select 1 from hookonce_halted h where h.id = d.id)
  and not coalesce((select p.open from hookonce_delivery p indexed by hookonce_delivery_lane
    where p.lane = d.lane and p.seq < d.seq order by p.seq desc limit 1), 0)
