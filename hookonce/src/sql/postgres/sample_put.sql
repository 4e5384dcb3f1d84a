-- Evictable: it never stands beside an event.
insert into hookonce.sample (source, target, headers, body, reason, received)
select * from unnest($1::text[], $2::text[], $3::bytea[], $4::bytea[], $5::text[], $6::bigint[])
