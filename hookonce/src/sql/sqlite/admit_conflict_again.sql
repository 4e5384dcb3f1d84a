-- The same other content once more.
update hookonce_conflict set seen = seen + 1, last_seen = max(last_seen, ?3) where digest = ?1 and fingerprint = ?2
