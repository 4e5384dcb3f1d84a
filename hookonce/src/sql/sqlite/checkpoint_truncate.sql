-- At the end: the next start needs no recovery.
pragma wal_checkpoint(truncate)
