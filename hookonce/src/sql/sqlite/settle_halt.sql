-- Out of the queue, until a person or a predecessor comes.
insert into hookonce_halted (id, seq, lane, consumer, event, generation, kind, reason, since, attempts, lost, epoch)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
