-- Back in its lane, as what it was.
update hookonce_delivery set state = null, ended = null, attempts = 0, decided = ?2 where seq = ?1
