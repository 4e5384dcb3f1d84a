-- Nobody else will write the history of a run that never came back.
insert into hookonce_attempt (delivery, no, started, ended, outcome, detail)
values (?1, (select count(*) + 1 from hookonce_attempt where delivery = ?1), ?2, ?3, 'lost',
  'the lease ended without an outcome')
