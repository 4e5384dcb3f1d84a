-- What this group counted, and its receipt.
insert into hookonce.tally (id, at, counts) values ($1, $2, $3)
