-- Rows of history.
delete from hookonce.request where id = any($1)
