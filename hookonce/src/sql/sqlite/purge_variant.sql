-- Of a further event of a known key this row is the ledger row.
delete from hookonce_conflict where digest = ?1 and event = ?2
