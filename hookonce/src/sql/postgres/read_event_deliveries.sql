-- All that is owed for one event.
select * from hookonce.delivery_facts where event = $1 order by seq
