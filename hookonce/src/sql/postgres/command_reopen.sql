-- Back in its lane, as what it was.
update hookonce.delivery set state = null, ended = null, attempts = 0, decided = $3 where lane = $1 and seq = $2
