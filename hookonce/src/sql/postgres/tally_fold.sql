-- Rows of groups long past. Whoever folds at the same moment takes others.
delete from hookonce.tally where id in (
  select id from hookonce.tally where at < (select hookonce.now_us()) - $1 order by id limit $2 for update skip locked)
returning counts
