-- Ids of consumers are never given twice.
insert into hookonce_consumer (id, name, number, from_pos, definition, state)
select coalesce(max(id), 0) + 1, ?1, ?2, ?3, ?4, 'live' from hookonce_consumer returning id
