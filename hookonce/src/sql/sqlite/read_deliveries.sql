-- From the newest back.
select * from hookonce_delivery_facts where seq < ?1 order by seq desc limit ?2
