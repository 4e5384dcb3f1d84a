-- Durable when it returns: WAL with synchronous=FULL.
commit
