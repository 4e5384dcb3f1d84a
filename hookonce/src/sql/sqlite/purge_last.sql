-- The event that the bytes of a batch go with.
select max(id) from hookonce_event where payload = ?1 and span_start is not null
