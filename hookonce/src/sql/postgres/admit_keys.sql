-- Mirrors M1
-- The primary key decides, in the order of the digests, so that two groups never wait for each other. `do update` answers
-- a copy in this very commit, and gives the row of whoever was first even where our snapshot cannot see it. Numbers are
-- drawn here, in the order of arrival: who was answered before this was sent has drawn before. What has no key, or not
-- for the first time in the group, only draws.
with asked as materialized (
  select nextval('hookonce.number') as id, u.*
  from unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bigint[]) with ordinality
    as u(digest, fingerprint, body_hash, rule, place)
),
clock as materialized (select hookonce.now_us() as now),
taken as (
  insert into hookonce.ledger as l (digest, fingerprint, body_hash, rule, event, first_seen, last_seen, seen)
  select a.digest, a.fingerprint, a.body_hash, a.rule, a.id, (select now from clock), (select now from clock), 1
  from asked a where a.digest is not null order by a.digest
  on conflict (digest) do update set
    seen = l.seen + (l.fingerprint = excluded.fingerprint
      or (l.rule <> excluded.rule and l.body_hash = excluded.body_hash))::int,
    last_seen = case when l.fingerprint = excluded.fingerprint
      or (l.rule <> excluded.rule and l.body_hash = excluded.body_hash)
      then greatest(l.last_seen, excluded.last_seen) else l.last_seen end
  returning digest, event, fingerprint, body_hash, rule
)
select place, id, null::bigint as event, null::bytea as digest, null::bytea as fingerprint, null::bytea as body_hash,
  null::bigint as rule
from asked
union all
select null, null, event, digest, fingerprint, body_hash, rule from taken
