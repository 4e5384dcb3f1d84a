-- Told apart: never there, or already decided.
select decided from hookonce.unmapped where id = $1
