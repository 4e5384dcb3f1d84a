-- A commit of its own, on a row that nobody else writes: what cannot write is not ready.
insert into hookonce.tally (at, counts) values ((select hookonce.now_us()), '[]')
