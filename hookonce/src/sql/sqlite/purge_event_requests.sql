-- What came under its key is not to name an event that is gone.
delete from hookonce_request where event = ?1
