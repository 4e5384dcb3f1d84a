-- The newest row of a name is in force.
select state from hookonce_consumer where id = ?1 order by number desc limit 1
