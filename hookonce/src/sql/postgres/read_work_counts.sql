-- One walk over what can run now or later.
select consumer, count(*) filter (where token is not null and due > $1),
  count(*) filter (where not (token is not null and due > $1) and attempts > 0),
  count(*) filter (where not (token is not null and due > $1) and attempts = 0), min(event)
from hookonce.work group by consumer
