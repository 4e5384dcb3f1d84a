-- What a halted row keeps of its work row, which the next statement deletes if the lease holds.
select id, lane, consumer, event, generation, lost, epoch from hookonce_work where seq = ?1
