-- Only the router inserts deliveries, so this look under the lock on its pass is exact.
select event, consumer from hookonce.delivery where event = any ($1::int8[]) and generation = 0
