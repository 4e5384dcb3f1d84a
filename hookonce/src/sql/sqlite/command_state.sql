-- Of the definition in force.
update hookonce_consumer set state = ?2
where id = ?1 and number = (select max(number) from hookonce_consumer where id = ?1)
