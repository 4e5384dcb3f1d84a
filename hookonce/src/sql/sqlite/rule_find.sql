-- Equal definitions share a number, whatever the source.
select number from hookonce_rule where definition = ?1 order by number limit 1
