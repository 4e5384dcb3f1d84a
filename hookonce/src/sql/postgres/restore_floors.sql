-- Every namespace there is, or will be by the configuration: who is not known and happened before may have been.
insert into hookonce.namespace as n (name, floor)
select name, $1 from (select namespace as name from hookonce.event union select unnest($2::text[])
  union select name from hookonce.namespace) known
on conflict (name) do update set floor = greatest(n.floor, excluded.floor)
