-- The newest row of a name is in force.
select id, number, definition from hookonce.consumer where name = $1 order by number desc limit 1
