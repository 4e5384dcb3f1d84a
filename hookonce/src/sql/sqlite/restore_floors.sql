-- Every namespace there is, or will be by the configuration: who is not known and happened before may have been.
insert into hookonce_namespace (name, floor)
select name, ?1 from (select distinct namespace as name from hookonce_event union select value from json_each(?2)
  union select name from hookonce_namespace)
where true
on conflict (name) do update set floor = max(coalesce(floor, excluded.floor), excluded.floor)
