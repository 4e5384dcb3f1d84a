-- One row a group, in its commit.
insert into hookonce_tally (at, counts) values (?1, ?2)
