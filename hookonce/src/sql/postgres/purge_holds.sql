-- What was decided about events that are gone.
delete from hookonce.hold where event = any($1)
