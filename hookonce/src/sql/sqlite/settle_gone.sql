-- Mirrors M4
delete from hookonce_work where seq = ?1 and epoch = ?2 and token = ?3 and ?4 = ?5
returning id, lane, consumer, event, generation, lost, epoch
