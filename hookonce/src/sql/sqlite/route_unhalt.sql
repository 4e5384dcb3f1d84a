-- The epoch goes on, so that a lease from before is of no use.
delete from hookonce_halted where id = ?1 returning epoch
