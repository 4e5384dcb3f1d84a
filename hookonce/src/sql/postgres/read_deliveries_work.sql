-- Only what can run now or later: found from the work rows, however long the history.
select f.* from (select lane, seq from hookonce.work where seq < $1 order by seq desc limit $2) w
join hookonce.delivery_facts f on f.lane = w.lane and f.seq = w.seq order by f.seq desc
