-- It only ever rises.
insert into hookonce_namespace (name, floor) values (?1, ?2)
on conflict (name) do update set floor = max(coalesce(floor, excluded.floor), excluded.floor)
