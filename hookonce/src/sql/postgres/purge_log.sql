-- Their places stay empty.
delete from hookonce.log where event = any($1)
