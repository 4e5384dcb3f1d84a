-- What was said before.
select released from hookonce_hold where event = ?1
