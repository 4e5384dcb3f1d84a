-- Folded every few hundred groups, so the table stays this short.
select counts from hookonce.tally
