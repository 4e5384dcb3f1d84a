-- Behind the claim: what a run sees of its event.
select e.id, e.source, e.namespace, e.kind, e.key, e.key_text, e.variant, e.type, e.aggregate, e.version, e.received,
  e.span_start, e.span_end, p.headers, p.body
from unnest($1::int8[]) as c (event)
join hookonce.event e on e.id = c.event
join hookonce.payload p on p.id = e.payload
