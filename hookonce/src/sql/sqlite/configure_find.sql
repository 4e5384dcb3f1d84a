-- The newest row of a name is in force.
select id, number, definition from hookonce_consumer where name = ?1 order by number desc limit 1
