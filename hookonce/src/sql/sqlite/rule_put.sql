-- Numbers are given in order and never again.
insert into hookonce_rule (number, source, definition, last_used)
select coalesce(max(number), 0) + 1, ?1, ?2, ?3 from hookonce_rule returning number
