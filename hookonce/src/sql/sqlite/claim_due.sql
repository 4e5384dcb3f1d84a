-- Mirrors M3
select w.seq, w.id, w.token, w.due, coalesce((select d.cancel from hookonce_delivery d where d.seq = w.seq), 0),
  w.lane, w.event, w.generation, w.attempts, w.lost, w.since, w.decided, w.epoch
from hookonce_work w indexed by hookonce_work_due
where w.consumer = ?1 and w.due <= ?2 and w.lost < ?3 order by w.due, w.seq limit ?4
