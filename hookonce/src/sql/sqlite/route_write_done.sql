-- Requests leave with the pass that did them.
delete from hookonce_requeue where id = ?1
