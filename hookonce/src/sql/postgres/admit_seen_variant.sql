-- A released conflict's row is the ledger row of its variant.
update hookonce.conflict c set seen = c.seen + u.copies, last_seen = greatest(c.last_seen, $4)
from unnest($1::bytea[], $2::bigint[], $3::bigint[]) as u(digest, event, copies)
where c.digest = u.digest and c.event = u.event
