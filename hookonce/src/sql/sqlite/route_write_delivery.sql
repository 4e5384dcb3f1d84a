-- First of the two writes in its life.
insert into hookonce_delivery (seq, lane, id, consumer, event, generation, open, decided)
values (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7)
