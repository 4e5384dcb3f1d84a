-- Only what waits for a person: found from the halted rows, however long the history.
select * from hookonce_delivery_facts where seq in (select seq from hookonce_halted where seq < ?1 order by seq desc limit ?2)
order by seq desc
