-- All events of one request's bytes, the last one first.
select id from hookonce_event where payload = ?1 and span_start is not null order by id desc
