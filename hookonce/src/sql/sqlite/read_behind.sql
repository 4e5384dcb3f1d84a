-- The head of the lane: what all others of it wait for.
select id from hookonce_delivery indexed by hookonce_delivery_lane where lane = ?1 and seq < ?2 and open = 1 order by seq limit 1
