-- As much as can be copied without waiting for anybody.
pragma wal_checkpoint(passive)
