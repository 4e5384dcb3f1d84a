-- From the newest back.
select id from hookonce_event where id < ?1 order by id desc limit ?2
