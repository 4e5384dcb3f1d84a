-- One row of history.
delete from hookonce_request where id = ?1
