-- One walk over what waits for a person.
select consumer, sum(kind = 'dead'), sum(kind = 'parked') from hookonce_halted group by consumer
