-- Mirrors M3
-- A token that is still set is a lease that ended without an outcome.
update hookonce_work set due = ?2, epoch = epoch + 1, lost = lost + (token is not null), token = ?3, owner = ?4
where seq = ?1
returning lane, event, generation, attempts, lost, since, decided, epoch
