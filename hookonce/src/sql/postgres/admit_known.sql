-- What a person needs to see the difference. The ledger rows are locked by this transaction.
select l.digest, (select e.type from hookonce.event e where e.id = l.event),
  (select e.aggregate from hookonce.event e where e.id = l.event)
from hookonce.ledger l where l.digest = any($1)
