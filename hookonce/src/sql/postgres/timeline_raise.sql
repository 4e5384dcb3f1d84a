-- Only the first who comes with this timeline changes anything; others wait at the row and find it done. Numbers begin
-- above all that the old primary can have given out. Where its last commits may be missing, what comes again is held: its
-- effects may have taken place. Namespaces are those with a floor, those that sources are named after, and those of late.
with moved as (update hookonce.setting set value = $1 where name = 'timeline' and value <> $1 returning name),
raised as (update hookonce.setting
  set value = convert_to((convert_from(value, 'UTF8')::int8 + 1)::text, 'UTF8')
  where name = 'generation' and exists (select from moved)
  returning convert_from(value, 'UTF8')::int8 as generation),
numbers as materialized (select setval('hookonce.number', generation << 40) from raised),
names as (select name from hookonce.namespace union select source from hookonce.rule
  union select namespace from (select namespace from hookonce.event order by id desc limit 10000) late),
floors as (insert into hookonce.namespace (name, floor)
  select n.name, (select hookonce.now_us()) from names n
  where exists (select from raised)
    and not exists (select from hookonce.setting where name = 'acks' and value = 'replicated')
  on conflict (name) do update set floor = greatest(namespace.floor, excluded.floor)
  returning name)
select generation, (select count(*) from floors), (select count(*) from numbers) from raised
