-- Old rules still inside retention are known by it.
update hookonce.rule set last_used = greatest(last_used, (select hookonce.now_us())) where number = $1
