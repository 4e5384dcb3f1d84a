-- Other contents under that key: read only when the first one is not equal.
select fingerprint, body_hash, event from hookonce_conflict where digest = ?1 order by first_seen, fingerprint
