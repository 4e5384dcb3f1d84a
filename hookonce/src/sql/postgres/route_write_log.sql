-- Dense and in the order of the passes, because one router writes it.
insert into hookonce.log (pos, event) select pos, event from unnest($1::int8[], $2::int8[]) as n (pos, event)
