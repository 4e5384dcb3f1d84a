-- Written by the pass that goes over the event; a release that finds nobody writes it anew.
insert into hookonce.hold (event, reason, since)
select event, reason, (select hookonce.now_us()) from unnest($1::int8[], $2::text[]) as n (event, reason)
on conflict (event) do update set reason = excluded.reason, evidence = null, since = excluded.since, decided = null,
  released = null
