-- Mirrors M2
-- Behind the keys: whoever meets no row where one was purged meets the floor that was raised before.
select name, floor from hookonce.namespace where name = any($1) and floor is not null
