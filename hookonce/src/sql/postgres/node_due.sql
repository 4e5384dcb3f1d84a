-- The token stays: the claim counts a lease that its process did not outlive as lost. Who did not say good-bye may still
-- be at work; what it holds ends by itself.
update hookonce.work set due = least(due, (select hookonce.now_us()))
where seq in (
  select w.seq from hookonce.work w
  where w.owner in (select n.instance from hookonce.node n where n.ended is not null)
  order by w.seq for update)
