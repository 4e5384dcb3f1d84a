-- Passed by, to be looked at again.
insert into hookonce.keep (event, what, due) select g.event, $3, g.due from unnest($1::bigint[], $2::bigint[]) as g(event, due)
on conflict (event, what) do update set due = excluded.due
