-- From now on its leases are nobody's.
update hookonce.node set ended = (select hookonce.now_us()) where instance = $1 and ended is null
