-- Holds that a consumer that catches up meets.
select event, reason, released from hookonce_hold where event > ?1 and event <= ?2
