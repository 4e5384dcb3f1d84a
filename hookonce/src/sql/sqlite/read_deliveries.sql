-- From the newest back.
select * from hookonce_delivery_facts where seq < ?1 and (?2 is null or consumer = ?2) order by seq desc limit ?3
