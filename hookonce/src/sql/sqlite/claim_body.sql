-- On the inbox file, outside the writer.
select e.source, e.namespace, e.kind, e.key, e.key_text, e.variant, e.type, e.aggregate, e.version, e.received,
  e.span_start, e.span_end, p.headers, p.body
from hookonce_event e join hookonce_payload p on p.id = e.payload where e.id = ?1
