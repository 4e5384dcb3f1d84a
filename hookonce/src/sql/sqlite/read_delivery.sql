-- By its id, which is its first place; the few that were moved have an index.
select * from hookonce_delivery_facts where seq = (
  select seq from hookonce_delivery where seq = ?1 and id = ?1
  union all select seq from hookonce_delivery indexed by hookonce_delivery_moved where id = ?1 and id <> seq limit 1)
