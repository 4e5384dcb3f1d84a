-- The same other content once more.
update hookonce.conflict c set seen = c.seen + u.copies, last_seen = greatest(c.last_seen, $4)
from unnest($1::bytea[], $2::bytea[], $3::bigint[]) as u(digest, fingerprint, copies)
where c.digest = u.digest and c.fingerprint = u.fingerprint
