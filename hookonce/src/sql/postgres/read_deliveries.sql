-- From the newest place back. There is no index on places alone, which the planner would take for a lane's: the place
-- is the id, but for the few that were moved, and those have an index of their own.
select f.* from (
  (select lane, seq from hookonce.delivery where id < $1 and id = seq order by id desc limit $2)
  union all
  (select lane, seq from hookonce.delivery where id <> seq and seq < $1 order by seq desc limit $2)
  order by seq desc limit $2) d
join hookonce.delivery_facts f on f.lane = d.lane and f.seq = d.seq order by f.seq desc
