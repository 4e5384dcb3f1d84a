-- How long this transaction waits for a lock: what stands alone is given the time that its sender has left.
select set_config('lock_timeout', $1, true)
