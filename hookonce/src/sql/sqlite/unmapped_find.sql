-- Told apart: never there, or already decided.
select decided from hookonce_unmapped where id = ?1
