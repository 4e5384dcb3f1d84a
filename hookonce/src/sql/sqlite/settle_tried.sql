-- The number counts the rows of a delivery and is no key.
insert into hookonce_attempt (delivery, no, started, ended, outcome, detail)
values (?1, (select count(*) + 1 from hookonce_attempt where delivery = ?1), ?2, ?3, ?4, ?5)
