-- By age; their number and their bytes are bounded apart from it.
delete from hookonce.sample where id in (select id from hookonce.sample where received <= $1 order by id limit $2)
