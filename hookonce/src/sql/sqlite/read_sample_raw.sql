-- Redacted and cut before it was stored.
select target, headers, body from hookonce_sample where id = ?1
