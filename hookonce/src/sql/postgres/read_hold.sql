-- One event's hold, decided or not.
select reason, evidence, since, released from hookonce.hold where event = $1
