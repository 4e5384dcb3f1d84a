-- A released conflict's row is the ledger row of its variant.
update hookonce_conflict set seen = seen + 1, last_seen = max(last_seen, ?3) where digest = ?1 and event = ?2
