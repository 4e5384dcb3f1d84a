-- What was said before; whoever else decides waits.
select released from hookonce.hold where event = $1 for update
