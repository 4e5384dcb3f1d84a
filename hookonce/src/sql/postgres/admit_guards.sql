-- Mirrors M2
-- Guard rows of new keys, in their order and always behind the keys. A row that is there stays as it is and says whose
-- it is.
insert into hookonce.ledger as l (digest, fingerprint, body_hash, rule, event, first_seen, last_seen, seen)
select g.digest, g.fingerprint, g.body_hash, g.rule, g.event, $6, $6, 1
from unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bigint[])
  as g(digest, fingerprint, body_hash, rule, event)
order by g.digest
on conflict (digest) do update set seen = l.seen
returning digest, event
