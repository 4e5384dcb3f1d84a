-- Decided and old. Undecided bytes stay for ever.
select id, payload from hookonce_unmapped where decided is not null and received <= ?1 order by id limit ?2
