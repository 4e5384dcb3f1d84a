-- One walk over what waits for a person.
select consumer, count(*) filter (where kind = 'dead'), count(*) filter (where kind = 'parked')
from hookonce.halted group by consumer
