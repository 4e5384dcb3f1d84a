-- Whoever decides second changes nothing.
update hookonce_unmapped set decided = ?2 where id = ?1 and decided is null
