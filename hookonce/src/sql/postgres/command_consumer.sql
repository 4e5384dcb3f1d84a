-- The newest row of a name is in force; whoever else decides waits.
select state, number from hookonce.consumer where id = $1 order by number desc limit 1 for update
