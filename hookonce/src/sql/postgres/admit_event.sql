-- An event and its arrival, by which the router finds it however late this commit is.
with placed as (
  insert into hookonce.event (id, namespace, kind, key, key_text, variant, rule, source, type, aggregate, version,
    event_time, schema_version, received, payload, span_start, span_end, item, digest, fingerprint, body_hash, secret,
    provider_delivery, attempt_mark, origin, parent, hold_reason, guard)
  select * from unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::bigint[], $7::bigint[],
    $8::text[], $9::text[], $10::text[], $11::text[], $12::bigint[], $13::text[], $14::bigint[], $15::bigint[],
    $16::bigint[], $17::bigint[], $18::bigint[], $19::bytea[], $20::bytea[], $21::bytea[], $22::text[], $23::text[],
    $24::text[], $25::text[], $26::bigint[], $27::text[], $28::bytea[])
)
insert into hookonce.arrival (event) select * from unnest($1::bigint[])
