-- Nothing is left to be looked at again.
delete from hookonce.keep where event = any($1) and what = $2
