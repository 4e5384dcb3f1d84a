-- Rare, at a start: a walk over the events is cheaper than an index that every ack would pay for.
select min(id) from hookonce_event where received >= ?1
