-- Who held them may still be at work: its epoch is over. The token stays, so that the next claim counts a run as lost.
update hookonce_work set epoch = epoch + 1, due = min(due, ?1) where token is not null
