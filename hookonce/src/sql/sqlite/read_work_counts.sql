-- One walk over what can run now or later.
select consumer, sum(token is not null and due > ?1), sum(not (token is not null and due > ?1) and attempts > 0),
  sum(not (token is not null and due > ?1) and attempts = 0), min(event)
from hookonce_work group by consumer
