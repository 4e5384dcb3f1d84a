-- The first of a free lane can run at once; the primary key refuses a second head.
insert into hookonce_work (seq, id, lane, event, consumer, generation, due, decided, epoch)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
