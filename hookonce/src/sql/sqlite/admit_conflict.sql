-- Both contents are kept and nothing of the first is touched (invariant 3). A variant keeps its bytes as a payload.
insert into hookonce_conflict (digest, fingerprint, body_hash, headers, body, differs, first_seen, last_seen, seen, event)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 1, ?8)
