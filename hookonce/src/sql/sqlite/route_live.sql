-- Cursor of the router itself.
select n from hookonce_pass where own is null order by n desc limit 1
