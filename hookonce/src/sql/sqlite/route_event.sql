-- One event that a person released.
select id, source, namespace, type, aggregate, hold_reason, origin from hookonce_event where id = ?1
