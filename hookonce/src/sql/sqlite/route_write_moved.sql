-- A move gives a new place and keeps the id.
update hookonce_delivery set seq = ?2, lane = ?3, open = 1, cancel = 0, decided = ?4, state = null, attempts = 0, ended = null
where seq = ?1
