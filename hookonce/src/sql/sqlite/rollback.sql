-- Only sent while a transaction is open: several errors have already ended it by themselves.
rollback
