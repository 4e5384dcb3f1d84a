-- Locked by this pass; what moves waits for nobody any more.
delete from hookonce.halted where id = any ($1::int8[])
