-- First of the two writes in their lives.
insert into hookonce.delivery (seq, lane, id, consumer, event, generation, open, decided)
select seq, lane, id, consumer, event, generation, true, decided
from unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[])
  as n (seq, lane, id, consumer, event, generation, decided)
