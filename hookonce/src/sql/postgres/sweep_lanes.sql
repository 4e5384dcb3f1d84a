-- Mirrors M5
-- Closed deliveries of a lane stand before the open ones, so the one just before says whether this is the head.
select d.lane, d.seq from hookonce.delivery d
where (d.lane, d.seq) > ($1, $2) and (d.lane, d.seq) <= ($3, $4) and d.open
  and not exists (select 1 from hookonce.work w where w.seq = d.seq)
  and not exists (select 1 from hookonce.halted h where h.id = d.id)
  and not exists (select 1 from hookonce.lane_check c where c.lane = d.lane)
  and not coalesce((select p.open from hookonce.delivery p where p.lane = d.lane and p.seq < d.seq
    order by p.lane desc, p.seq desc limit 1), false)
