-- The log's size without touching the file by another handle (trap T5).
pragma wal_checkpoint(noop)
