-- What came under their keys is not to name events that are gone.
delete from hookonce.request where event = any($1)
