-- The bytes alone: keys, history and hashes stay.
delete from hookonce.payload where id = any($1)
