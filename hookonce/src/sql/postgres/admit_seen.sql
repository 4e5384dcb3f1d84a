-- Mirrors M1
-- Further copies in the same group; core has compared fingerprint or body hash.
update hookonce.ledger l set seen = l.seen + u.copies, last_seen = greatest(l.last_seen, $3)
from unnest($1::bytea[], $2::bigint[]) as u(digest, copies) where l.digest = u.digest
