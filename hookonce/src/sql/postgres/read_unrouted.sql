-- The router has not come to that event.
select 1::bigint from hookonce.arrival where event = $1
