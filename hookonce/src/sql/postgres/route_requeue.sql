-- What commands and settles asked for, oldest first.
select id, kind, event, delivery, decided from hookonce.requeue order by id limit $1
