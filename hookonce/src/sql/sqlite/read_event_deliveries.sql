-- All that is owed for one event.
select * from hookonce_delivery_facts where event = ?1 order by seq
