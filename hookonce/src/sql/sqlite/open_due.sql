-- The token stays: the claim counts a lease that its process did not outlive as lost.
update hookonce_work set due = min(due, ?1) where owner is not null and owner <> ?2
