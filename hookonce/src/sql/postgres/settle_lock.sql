-- Mirrors M4
-- First the work rows, by seq: while a lease holds, nobody else writes its row.
select w.seq from unnest($1::int8[], $2::int8[], $3::bytea[], $4::int8[]) as a (seq, epoch, token, store)
join hookonce.work w on w.seq = a.seq and w.epoch = a.epoch and w.token = a.token and a.store = $5
order by w.seq for update of w
