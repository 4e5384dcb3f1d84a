-- Of the definition in force.
update hookonce.consumer set state = $2
where id = $1 and number = (select max(number) from hookonce.consumer where id = $1)
