-- A stretch of history, from where the last one ended: what waits to be decided stays, the rest goes by its age.
select q.id, exists (select 1 from hookonce_unmapped u where u.id = q.id) from hookonce_request q
where q.id > ?1 and q.at <= ?2 order by q.id limit ?3
