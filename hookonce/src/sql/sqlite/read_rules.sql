-- Of each source the rule that was used last.
select r.source, r.definition from hookonce_rule r
where not exists (select 1 from hookonce_rule n where n.source = r.source and (n.last_used, n.number) > (r.last_used, r.number))
order by r.source
