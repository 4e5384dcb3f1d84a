-- Nobody else will write the history of a run that never came back. Numbered and bounded (?4) as `settle_tried` does it.
insert or replace into hookonce_attempt (rowid, delivery, no, started, ended, outcome, detail)
values ((select iif(no >= ?4, rowid, null) from hookonce_attempt where delivery = ?1 order by rowid desc limit 1),
  ?1, coalesce((select no from hookonce_attempt where delivery = ?1 order by rowid desc limit 1), 0) + 1, ?2, ?3, 'lost',
  'the lease ended without an outcome')
