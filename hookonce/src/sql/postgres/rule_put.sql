-- Numbers are dense and never given again. Of two nodes that ask at once one gets none, and asks again.
insert into hookonce.rule (number, source, definition, last_used)
select coalesce(max(number), 0) + 1, $1, $2, (select hookonce.now_us()) from hookonce.rule
on conflict do nothing returning number
