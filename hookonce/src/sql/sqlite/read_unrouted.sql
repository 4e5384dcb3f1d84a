-- The router has not come to that event. Its place is that of the last pass that was nobody's own.
select 1 where ?1 > coalesce((select pos from hookonce_pass where own is null order by n desc limit 1), 0)
