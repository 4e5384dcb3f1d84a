-- The newest $2 rows and $3 bytes of a source stay.
delete from hookonce.sample where id in (
  select id from (
    select id, row_number() over newest as n, sum(length(body) + length(headers) + length(target)) over newest as total
    from hookonce.sample where source = $1 window newest as (order by id desc)) kept
  where n > $2 or total > $3)
