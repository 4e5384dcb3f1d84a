-- One, with what its key has met; a variant is counted in its conflict row.
select e.id, e.source, e.type, e.key_text, e.kind, e.variant, e.aggregate, e.version, e.event_time, e.received, e.secret,
  e.origin, e.hold_reason, e.body_hash, coalesce(e.span_end - e.span_start, octet_length(p.body)::bigint, 0),
  (select count(*) from hookonce.conflict c where c.digest = e.digest),
  coalesce(l.seen, v.seen, 1), coalesce(l.last_seen, v.last_seen, e.received), p.id is null
from hookonce.event e
left join hookonce.payload p on p.id = e.payload
left join hookonce.ledger l on l.digest = e.digest and l.event = e.id
left join hookonce.conflict v on v.digest = e.digest and v.event = e.id
where e.id = $1
