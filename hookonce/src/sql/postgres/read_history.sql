-- Every run and every decision of the engine, oldest first.
select no, started, ended, outcome, detail from hookonce.attempt where delivery = $1 order by id
