-- Mirrors M4
-- What is needed of the row is read before: `returning` would open a table of its own for every delivery.
delete from hookonce_work where seq = ?1 and epoch = ?2 and token = ?3 and ?4 = ?5
