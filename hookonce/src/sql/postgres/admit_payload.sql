-- Once a request, however many events it holds.
insert into hookonce.payload (id, target, headers, body)
select * from unnest($1::bigint[], $2::text[], $3::bytea[], $4::bytea[])
