-- The last one that is said is in force.
insert into hookonce.setting (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value
