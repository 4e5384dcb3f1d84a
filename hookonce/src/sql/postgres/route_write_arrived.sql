-- From here on they are in the log.
delete from hookonce.arrival where event = any ($1::int8[])
