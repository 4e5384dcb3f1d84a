-- The head of the lane: what all others of it wait for.
select id from hookonce.delivery where lane = $1 and seq < $2 and open order by lane, seq limit 1
