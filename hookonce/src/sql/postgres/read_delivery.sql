-- By its id, which it keeps.
select * from hookonce.delivery_facts where id = $1
