-- The bytes alone: key, history and hashes stay.
delete from hookonce_payload where id = ?1
