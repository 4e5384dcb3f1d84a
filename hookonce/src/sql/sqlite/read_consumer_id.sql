-- A name keeps its id.
select id from hookonce_consumer where name = ?1 limit 1
