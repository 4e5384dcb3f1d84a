-- Behind the claim, in a statement of its own: which of the heads a person has cancelled.
select d.seq from unnest($1::int8[], $2::int8[]) as c (lane, seq)
join hookonce.delivery d on d.lane = c.lane and d.seq = c.seq where d.cancel
