-- Durable and never evicted: unfinished work until somebody decides.
insert into hookonce_unmapped (id, source, payload, span_start, span_end, item, secret, reason, received)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
