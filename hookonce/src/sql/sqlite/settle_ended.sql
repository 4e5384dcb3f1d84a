-- Second of the two writes in its life.
update hookonce_delivery set open = ?2, state = ?3, attempts = ?4, ended = ?5 where seq = ?1
