-- The end of this file's chain.
select id, hash from hookonce_audit order by id desc limit 1
