-- Duplicates, conflicts and unmapped ones; an accepted request is read from its event. Of one event only so many are
-- kept ($13, and `before` of it in this group); beyond them copies are only counted.
insert into hookonce.request (id, payload, item, source, verdict, event, fingerprint, provider_delivery, attempt_mark, secret,
  reason, at)
select u.id, u.payload, u.item, u.source, u.verdict, u.event, nullif(u.fingerprint, ''::bytea), u.provider_delivery,
  u.attempt_mark, u.secret, u.reason, $14
from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bytea[], $8::text[],
    $9::text[], $10::text[], $11::text[], $12::bigint[])
  as u(id, payload, item, source, verdict, event, fingerprint, provider_delivery, attempt_mark, secret, reason, before)
where u.event is null or u.before + (
  select count(*) from (select 1 from hookonce.request q where q.event = u.event limit $13) there) < $13
