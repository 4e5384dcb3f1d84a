-- Decided and old. Undecided bytes stay for ever.
delete from hookonce.unmapped where id in (
  select id from hookonce.unmapped where decided is not null and received <= $1 order by id limit $2)
returning id, payload
