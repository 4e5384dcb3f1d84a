-- The last of it.
delete from hookonce_event where id = ?1
