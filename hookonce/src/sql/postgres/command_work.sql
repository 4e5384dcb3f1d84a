-- From the beginning of its patience; the epoch goes on, so that a lease from before is of no use.
insert into hookonce.work (seq, id, lane, event, consumer, generation, repeat, due, decided, epoch)
select seq, id, lane, event, consumer, generation, repeat, (select hookonce.now_us()), decided, $3
from hookonce.delivery where lane = $1 and seq = $2
