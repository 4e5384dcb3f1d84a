-- Byte for byte as received.
select p.target, p.headers, p.body, e.span_start, e.span_end
from hookonce.event e join hookonce.payload p on p.id = e.payload where e.id = $1
