-- A new definition keeps id, beginning and state of the one before.
insert into hookonce.consumer (id, name, number, from_pos, definition, state)
select id, name, $2, from_pos, $3, state from hookonce.consumer where id = $1 order by number desc limit 1
on conflict do nothing returning id
