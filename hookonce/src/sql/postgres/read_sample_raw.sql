-- Redacted and cut before it was stored.
select target, headers, body from hookonce.sample where id = $1
