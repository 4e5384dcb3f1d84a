-- Written by the pass that goes over the event; a release that finds nobody writes it anew.
insert into hookonce_hold (event, reason, since) values (?1, ?2, ?3)
on conflict (event) do update set reason = excluded.reason, evidence = null, since = excluded.since, decided = null, released = null
