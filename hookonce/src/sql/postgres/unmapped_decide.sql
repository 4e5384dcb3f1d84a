-- Whoever decides second changes nothing.
update hookonce.unmapped set decided = $2 where id = $1 and decided is null
