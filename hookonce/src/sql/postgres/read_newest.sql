-- The end of the log.
select max(id) from hookonce.event
