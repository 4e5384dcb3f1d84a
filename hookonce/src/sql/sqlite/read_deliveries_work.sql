-- Only what can run now or later: found from the work rows, however long the history.
select * from hookonce_delivery_facts where seq in (select seq from hookonce_work where seq < ?1 order by seq desc limit ?2)
order by seq desc
