-- Other contents under these keys. Whoever writes one holds its ledger row.
select digest, fingerprint, body_hash, event from hookonce.conflict where digest = any($1)
order by digest, first_seen, fingerprint
