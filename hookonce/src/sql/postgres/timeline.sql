-- The timeline that is written now, not the one of the last checkpoint, which is behind for minutes after a promotion; and
-- whether a commit is answered only when a standby has it.
select ('x' || lpad(left(pg_walfile_name(pg_current_wal_lsn()), 8), 16, '0'))::bit(64)::int8,
  current_setting('synchronous_standby_names') <> '' and current_setting('synchronous_commit') in ('on', 'remote_apply')
