-- Where nobody has looked yet, what is written now is what is known.
insert into hookonce.setting (name, value)
select 'timeline', convert_to(('x' || lpad(left(pg_walfile_name(pg_current_wal_lsn()), 8), 16, '0'))::bit(64)::int8::text, 'UTF8')
on conflict (name) do nothing
