-- Mirrors M3
-- A token that is still set is a lease that ended without an outcome. What the claim answers was read by the statement
-- before: `returning` would open a table of its own for every delivery.
update hookonce_work set due = ?2, epoch = epoch + 1, lost = lost + (token is not null), token = ?3, owner = ?4
where seq = ?1
