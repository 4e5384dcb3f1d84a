-- Its key or its guard row, unless it is another's.
delete from hookonce_ledger where digest = ?1 and event = ?2
