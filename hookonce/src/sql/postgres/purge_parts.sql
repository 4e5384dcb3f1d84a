-- All that share them.
select e.payload, e.id from hookonce.event e where e.payload = any($1) and e.span_start is not null
