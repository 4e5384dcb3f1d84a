-- Requests leave with the pass that did them.
delete from hookonce.requeue where id = any ($1::int8[])
