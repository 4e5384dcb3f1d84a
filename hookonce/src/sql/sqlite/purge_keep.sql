-- Passed by, to be looked at again; without an instant it is going.
insert into hookonce_keep (event, what, due) values (?1, ?2, ?3)
on conflict (event, what) do update set due = excluded.due
