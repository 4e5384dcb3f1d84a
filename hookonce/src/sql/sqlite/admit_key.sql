-- Mirrors M1
-- The primary key decides; a known one is read in the next statement and core judges it. Guard rows go in here too.
insert into hookonce_ledger (digest, fingerprint, body_hash, rule, event, first_seen, last_seen, seen)
values (?1, ?2, ?3, ?4, ?5, ?6, ?6, 1) on conflict (digest) do nothing
