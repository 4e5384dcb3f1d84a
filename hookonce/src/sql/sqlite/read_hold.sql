-- One event's hold, decided or not.
select reason, evidence, since, released from hookonce_hold where event = ?1
