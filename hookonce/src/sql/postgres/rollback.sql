-- What was written is gone.
rollback
