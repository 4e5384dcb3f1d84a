-- The number counts the rows of a delivery and is no key.
insert into hookonce_attempt (delivery, no, started, ended, outcome, detail)
select ?1, count(*) + 1, ?2, ?3, ?4, ?5 from hookonce_attempt where delivery = ?1
