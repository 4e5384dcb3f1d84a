-- Only in builds with planted bugs: whatever leases are on the rows now.
select seq, epoch, token from hookonce.work where seq = any($1::int8[]) and token is not null
