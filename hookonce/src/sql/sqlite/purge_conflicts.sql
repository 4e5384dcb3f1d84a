-- Together with their ledger row.
delete from hookonce_conflict where digest = ?1
