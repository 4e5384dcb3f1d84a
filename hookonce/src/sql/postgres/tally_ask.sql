-- Was the group of this receipt committed? A transaction that still holds it is waited for. Either way the row is
-- written, so that our own commit is behind that one wherever commits go, and nobody can commit it after us. A row of no
-- time is one that was only asked for.
insert into hookonce.tally as t (id, at, counts) values ($1, 0, '[]')
on conflict (id) do update set at = t.at returning at <> 0
