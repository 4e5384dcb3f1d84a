-- Mirrors M1
-- A copy counts as seen; core has compared fingerprint or body hash. Time never runs back in the ledger.
update hookonce_ledger set seen = seen + 1, last_seen = max(last_seen, ?2) where digest = ?1
