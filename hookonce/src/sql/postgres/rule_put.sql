-- Numbers are dense; of two nodes that ask at once the key refuses one, which asks again.
insert into hookonce.rule (number, source, definition, last_used)
select coalesce(max(number), 0) + 1, $1, $2, (select hookonce.now_us()) from hookonce.rule returning number
