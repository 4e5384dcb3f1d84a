-- Rows of groups long past become one. Whoever folds at the same moment takes others.
delete from hookonce.tally where id in (
  select id from hookonce.tally where id < $1 order by id limit $2 for update skip locked) returning counts
