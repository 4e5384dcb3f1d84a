-- The router appends it: only the router enters a lane.
insert into hookonce.requeue (kind, event, consumer, generation, decided, delivery) values ($1, $2, $3, $4, $5, $6)
