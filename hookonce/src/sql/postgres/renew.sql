-- Mirrors M4
-- In the order of the locks. Late but untaken is still ours.
with ours as materialized (select w.seq from unnest($1::int8[], $2::int8[], $3::bytea[], $4::int8[])
    as a (seq, epoch, token, store)
  join hookonce.work w on w.seq = a.seq and w.epoch = a.epoch and w.token = a.token and a.store = $5
  order by w.seq for update of w)
update hookonce.work w set due = (select hookonce.now_us()) + $6 from ours where w.seq = ours.seq returning w.seq, w.epoch
