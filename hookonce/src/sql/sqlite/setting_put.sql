-- Once a group at the most; never a row that every request updates.
insert into hookonce_setting (name, value) values (?1, ?2) on conflict (name) do update set value = excluded.value
