-- Of each source the rule that was used last.
select r.source, r.definition from hookonce.rule r
where not exists (select 1 from hookonce.rule n
  where n.source = r.source and (n.last_used > r.last_used or (n.last_used = r.last_used and n.number > r.number)))
order by r.source collate "C"
