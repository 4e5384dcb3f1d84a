-- Durable and never evicted: unfinished work until somebody decides.
insert into hookonce.unmapped (id, source, payload, span_start, span_end, item, secret, reason, received)
select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[],
  $8::text[], $9::bigint[])
