-- The last of them.
delete from hookonce.event where id = any($1)
