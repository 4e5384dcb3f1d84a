-- What a session of ours is told when it begins, where the session is somebody's who lends it: for this transaction.
select set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
  set_config('idle_in_transaction_session_timeout', $3, true), set_config('enable_seqscan', 'off', true),
  set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
  set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true)
