-- A name keeps its id.
select id from hookonce.consumer where name = $1 limit 1
