-- Ids of consumers are never given twice: of two nodes that take the same one, the second gets none and begins again.
insert into hookonce.consumer (id, name, number, from_pos, definition, state)
select coalesce(max(id), 0) + 1, $1, $2, $3, $4, 'live' from hookonce.consumer
on conflict do nothing returning id
