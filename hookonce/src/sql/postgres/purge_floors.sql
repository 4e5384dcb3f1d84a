-- They only ever rise. Whoever finds a key gone has waited for this commit and reads them behind it.
insert into hookonce.namespace as n (name, floor)
select g.name, max(g.floor) from unnest($1::text[], $2::bigint[]) as g(name, floor) group by g.name order by g.name
on conflict (name) do update set floor = greatest(n.floor, excluded.floor)
