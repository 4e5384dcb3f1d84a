-- Nobody else will write the history of a run that never came back.
insert into hookonce_attempt (delivery, no, started, ended, outcome, detail)
select ?1, count(*) + 1, ?2, ?3, 'lost', 'the lease ended without an outcome' from hookonce_attempt where delivery = ?1
