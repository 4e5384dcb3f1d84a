-- Whoever tells hears himself as well, under this number.
select pg_backend_pid()::int8
