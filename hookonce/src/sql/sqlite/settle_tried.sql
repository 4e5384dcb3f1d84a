-- The number goes on from the newest row's and is no key; from so many on (?6) a row takes the newest one's place.
insert or replace into hookonce_attempt (rowid, delivery, no, started, ended, outcome, detail)
values ((select iif(no >= ?6, rowid, null) from hookonce_attempt where delivery = ?1 order by rowid desc limit 1),
  ?1, coalesce((select no from hookonce_attempt where delivery = ?1 order by rowid desc limit 1), 0) + 1, ?2, ?3, ?4, ?5)
