-- Together with their ledger rows.
delete from hookonce.conflict where digest = any($1)
