-- Mirrors M4
update hookonce_work set due = ?6 where seq = ?1 and epoch = ?2 and token = ?3 and ?4 = ?5
