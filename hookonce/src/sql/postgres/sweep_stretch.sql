-- The end of the stretch: a bounded walk over the primary key.
select lane, seq from hookonce.delivery where (lane, seq) > ($1, $2) order by lane, seq offset $3 - 1 limit 1
