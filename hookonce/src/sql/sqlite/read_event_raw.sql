-- Byte for byte as received.
select p.target, p.headers, p.body, e.span_start, e.span_end
from hookonce_event e join hookonce_payload p on p.id = e.payload where e.id = ?1
