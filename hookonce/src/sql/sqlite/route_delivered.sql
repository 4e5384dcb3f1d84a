-- Only the router inserts deliveries, so this look is exact.
select consumer from hookonce_delivery where event = ?1 and generation = 0
