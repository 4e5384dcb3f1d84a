-- Alone in its transaction: one that also writes would serialise with every other that tells.
select pg_notify('hookonce', $1::text)
