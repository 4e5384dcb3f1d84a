-- They live as long as their events. No settle and no pass has them: they have ended, and the router stands still.
delete from hookonce.delivery where event = any($1)
