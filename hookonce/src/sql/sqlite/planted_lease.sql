-- Only in builds with planted bugs: whatever lease is on the row now.
select epoch, token from hookonce_work where seq = ?1
