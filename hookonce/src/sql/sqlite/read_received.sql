-- When an event came.
select received from hookonce_event where id = ?1
