-- Of the definition in force.
update hookonce.consumer set state = $3 where id = $1 and number = $2
