-- The first of a free lane can run at once; the primary key refuses a second head.
insert into hookonce.work (seq, lane, id, consumer, event, generation, due, decided, epoch)
select seq, lane, id, consumer, event, generation, (select hookonce.now_us()), decided, epoch
from unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[], $8::int8[])
  as n (seq, lane, id, consumer, event, generation, decided, epoch)
