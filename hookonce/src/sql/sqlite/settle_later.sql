-- Mirrors M4
update hookonce_work set due = ?6, token = null, owner = null, attempts = ?7, since = coalesce(since, ?8)
where seq = ?1 and epoch = ?2 and token = ?3 and ?4 = ?5
