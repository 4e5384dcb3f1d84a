-- A move gives a new place and keeps the id.
update hookonce.delivery d set seq = m.seq, lane = m.lane, open = true, cancel = false, decided = m.decided,
  state = null, attempts = 0, ended = null
from unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::int8[])
  as m (lane_before, seq_before, lane, seq, decided)
where d.lane = m.lane_before and d.seq = m.seq_before
