-- This process lives, and runs that configuration.
update hookonce.node set seen = (select hookonce.now_us()), config = $2 where instance = $1
