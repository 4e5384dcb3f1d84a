-- The next events in the order of their numbers.
select id, received from hookonce.event where id > $1 and id <= $2 order by id limit $3
