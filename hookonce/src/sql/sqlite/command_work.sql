-- From the beginning of its patience; the epoch goes on, so that a lease from before is of no use.
insert into hookonce_work (seq, id, lane, event, consumer, generation, repeat, due, decided, epoch)
select seq, id, lane, event, consumer, generation, repeat, ?2, decided, ?3 from hookonce_delivery where seq = ?1
