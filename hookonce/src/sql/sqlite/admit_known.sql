-- What stands under a key, with what a person needs to see the difference.
select l.event, l.fingerprint, l.body_hash, l.rule, e.type, e.aggregate
from hookonce_ledger l left join hookonce_event e on e.id = l.event where l.digest = ?1
