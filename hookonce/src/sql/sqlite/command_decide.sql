-- In the commit of its audit row.
update hookonce_hold set decided = ?2, released = ?3 where event = ?1
