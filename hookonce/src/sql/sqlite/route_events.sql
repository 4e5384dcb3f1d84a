-- On the inbox file, by a connection that only reads; without the payload.
select id, source, namespace, type, aggregate, hold_reason, origin from hookonce_event
where id > ?1 and id <= ?2 order by id limit ?3
