-- Only what waits for a person: found from the halted rows, however long the history.
select f.* from (select lane, seq from hookonce.halted where seq < $1 order by seq desc limit $2) h
join hookonce.delivery_facts f on f.lane = h.lane and f.seq = h.seq order by f.seq desc
