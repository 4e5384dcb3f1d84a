-- Both contents are kept and nothing of the first is touched (invariant 3). A variant keeps its bytes as a payload.
insert into hookonce.conflict (digest, fingerprint, body_hash, headers, body, differs, event, first_seen, last_seen, seen)
select u.digest, u.fingerprint, u.body_hash, u.headers, u.body, u.differs, u.event, $8, $8, 1
from unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[], $6::text[], $7::bigint[])
  as u(digest, fingerprint, body_hash, headers, body, differs, event)
