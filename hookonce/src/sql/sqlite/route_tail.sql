-- The newest delivery of a lane is the lane's end.
select open from hookonce_delivery indexed by hookonce_delivery_lane where lane = ?1 order by seq desc limit 1
