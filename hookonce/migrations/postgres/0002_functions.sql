-- Functions and views for workers in any language: `claim`, `done` and their kin, `v_events` and its kin (docs/SQL.md).
-- A function whose name begins with `run_` holds the statement of that name of the engine, to the letter, so that whoever
-- settles does the same. The plan settings are those of the engine's sessions: statistics say little about a queue.

-- The draw for the jitter: from 0 to below 1.
create function hookonce.dice() returns double precision language sql volatile as 'select random()';

-- What a worker is handed. `span_start` and `span_end` are set where the item of a batch cannot be cut out here, because
-- its body is stored as it came, compressed: they count the decoded bytes.
create type hookonce.claimed as (
    lease      text,
    event      text,
    source     text,
    key        text,
    type       text,
    aggregate  text,
    version    text,
    generation bigint,
    attempts   bigint,
    headers    jsonb,
    body       bytea,
    span_start bigint,
    span_end   bigint
);

-- A lease, taken apart. `next`: whom it is handed on to when it is done; 0: nobody.
create type hookonce.lease as (seq bigint, epoch bigint, store bigint, started bigint, next bigint, token bytea);

-- The answers of `claim` and `claim_bodies`.
create type hookonce.claim_row as (
    seq bigint, id bigint, token bytea, lane bigint, event bigint, generation bigint, attempts bigint, lost bigint,
    since bigint, decided bigint, epoch bigint, due bigint, now bigint
);
create type hookonce.body_row as (
    id bigint, source text, namespace text, kind text, key bytea, key_text text, variant bigint, type text,
    aggregate text, version text, received bigint, span_start bigint, span_end bigint, headers bytea, body bytea
);

create function hookonce.micros(interval) returns bigint language sql immutable parallel safe
as $$ select (extract(epoch from $1) * 1000000)::bigint $$;

create function hookonce.instant(bigint) returns timestamptz language sql immutable parallel safe
as $$ select timestamptz 'epoch' + $1 * interval '1 microsecond' $$;

-- The public name of an event: its number in Crockford's base 32.
create function hookonce.event_id(bigint) returns text language sql immutable parallel safe
as $$ select 'evt_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', (($1 >> 5 * i) & 31)::int + 1, 1), '' order by i desc)
    from generate_series(0, 12) i where i = 0 or $1 >> 5 * i > 0 $$;

-- Stored headers as pairs in their order. What is no text of any encoding is read as Latin-1, a byte a character.
create function hookonce.header_pairs(bytea) returns jsonb language sql immutable parallel safe
as $$ select coalesce(jsonb_agg(jsonb_build_array(split_part(line, ': ', 1), substr(line, strpos(line, ': ') + 2)) order by n), '[]')
    from regexp_split_to_table(convert_from($1, 'LATIN1'), '\r\n') with ordinality as l (line, n) where line <> '' $$;

-- Whether the body that they came with is compressed.
create function hookonce.is_coded(headers jsonb) returns boolean language sql immutable parallel safe
as $$ select exists (select 1 from jsonb_array_elements(headers) h
    where h ->> 0 = 'content-encoding' and lower(btrim(h ->> 1)) not in ('', 'identity')) $$;

create function hookonce.lease_text(hookonce.lease) returns text language sql immutable parallel safe
as $$ select concat_ws('.', $1.seq, $1.epoch, $1.store, $1.started, $1.next, encode($1.token, 'hex')) $$;

create function hookonce.lease_of(lease text) returns hookonce.lease language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp as $$
declare
    part text[] := string_to_array(lease, '.');
begin
    if lease is null or lease !~ '^(\d{1,18}\.){5}[0-9a-f]{32}$' then
        raise exception 'this is no lease' using errcode = 'invalid_parameter_value',
            hint = 'hand on the column `lease` of `claim` as it is';
    end if;
    return row(part[1], part[2], part[3], part[4], part[5], decode(part[6], 'hex'))::hookonce.lease;
end $$;

-- The delay of the n-th rung, before the jitter. `retry`: first, max, give_up_after, attempts. Mirrors M7
create function hookonce.rung(retry jsonb, n bigint) returns bigint language sql immutable parallel safe
as $$ select least((retry ->> 0)::numeric * power(2::numeric, greatest(least(n, 63), 1) - 1), (retry ->> 1)::numeric)::bigint $$;

-- Between half and the whole of the rung, at least what was asked for, of which a day is believed. Mirrors M7
create function hookonce.delay(retry jsonb, n bigint, asked bigint) returns bigint language sql volatile
as $$ select greatest(r / 2 + floor(hookonce.dice() * (greatest(r - r / 2, 1) + 1))::bigint,
        least(greatest(coalesce(asked, 0), 0), 86400000000))
    from hookonce.rung(retry, n) r $$;

-- Statements of the engine.

create function hookonce.run_claim(bigint, bytea[], bigint, bigint, bigint, bigint, bigint, bigint)
returns setof hookonce.claim_row language plpgsql volatile set search_path = pg_catalog, pg_temp as $run$
begin return query
-- Mirrors M3
-- Due and not to be left alone, oldest first; a token that is still set is a lease that ended without an outcome. `$3` is
-- a low mark: under somebody's old snapshot the index keeps every entry that was due before. Who is paused or left gets
-- nothing. A row of history is numbered behind the newest; from so many on (`$8`) it takes that one's place.
with clock as materialized (select hookonce.now_us() as now),
c as materialized (select w.seq, w.due, w.token from hookonce.work w
  where w.consumer = $1 and w.due <= (select now from clock) and w.due > $3 and w.lost < $4
    and coalesce((select s.state from hookonce.consumer s where s.id = $1 order by s.number desc limit 1), 'live') = 'live'
  order by w.due, w.seq limit $5 for update skip locked),
t as materialized (select c.*, ($2::bytea[])[(row_number() over (order by c.due, c.seq))::int4] as fresh from c),
lost as materialized (select w.id, t.due, l.id as last, coalesce(l.no, 0) as no
  from t join hookonce.work w on w.seq = t.seq
  left join lateral (select a.id, a.no from hookonce.attempt a where a.delivery = w.id
    order by a.delivery desc, a.id desc limit 1) l on true
  where t.token is not null),
replaced as (delete from hookonce.attempt a using lost l where a.id = l.last and l.no >= $8),
history as (insert into hookonce.attempt (delivery, no, started, ended, outcome, detail)
  select id, no + 1, due, (select now from clock), 'lost', 'the lease ended without an outcome' from lost)
update hookonce.work w set due = (select now from clock) + $6, epoch = w.epoch + 1,
  lost = w.lost + case when t.token is null then 0 else 1 end, token = t.fresh, owner = $7
from t where w.seq = t.seq
returning w.seq, w.id, w.token, w.lane, w.event, w.generation, w.attempts, w.lost, w.since, w.decided, w.epoch, t.due,
  (select now from clock)
; end $run$;

create function hookonce.run_claim_quiet(bigint, bytea[], bigint, bigint, bigint, bigint, bigint, bigint)
returns setof hookonce.claim_row language plpgsql volatile set search_path = pg_catalog, pg_temp as $run$
begin return query
-- Mirrors M3
-- Due and not to be left alone, oldest first; a token that is still set is a lease that ended without an outcome. `$3` is
-- a low mark: under somebody's old snapshot the index keeps every entry that was due before. Who is paused or left gets
-- nothing. A row of history is numbered behind the newest; from so many on (`$8`) it takes that one's place.
with clock as materialized (select hookonce.now_us() as now),
c as materialized (select w.seq, w.due, w.token from hookonce.work w
  where w.consumer = $1 and w.due <= (select now from clock) and w.due > $3 and w.lost >= 3 and w.lost >= $4
    and coalesce((select s.state from hookonce.consumer s where s.id = $1 order by s.number desc limit 1), 'live') = 'live'
  order by w.due, w.seq limit $5 for update skip locked),
t as materialized (select c.*, ($2::bytea[])[(row_number() over (order by c.due, c.seq))::int4] as fresh from c),
lost as materialized (select w.id, t.due, l.id as last, coalesce(l.no, 0) as no
  from t join hookonce.work w on w.seq = t.seq
  left join lateral (select a.id, a.no from hookonce.attempt a where a.delivery = w.id
    order by a.delivery desc, a.id desc limit 1) l on true
  where t.token is not null),
replaced as (delete from hookonce.attempt a using lost l where a.id = l.last and l.no >= $8),
history as (insert into hookonce.attempt (delivery, no, started, ended, outcome, detail)
  select id, no + 1, due, (select now from clock), 'lost', 'the lease ended without an outcome' from lost)
update hookonce.work w set due = (select now from clock) + $6, epoch = w.epoch + 1,
  lost = w.lost + case when t.token is null then 0 else 1 end, token = t.fresh, owner = $7
from t where w.seq = t.seq
returning w.seq, w.id, w.token, w.lane, w.event, w.generation, w.attempts, w.lost, w.since, w.decided, w.epoch, t.due,
  (select now from clock)
; end $run$;

create function hookonce.run_claim_bodies(bigint[])
returns setof hookonce.body_row language plpgsql volatile set search_path = pg_catalog, pg_temp as $run$
begin return query
-- Behind the claim: what a run sees of its event.
select e.id, e.source, e.namespace, e.kind, e.key, e.key_text, e.variant, e.type, e.aggregate, e.version, e.received,
  e.span_start, e.span_end, p.headers, p.body
from unnest($1::int8[]) as c (event)
join hookonce.event e on e.id = c.event
join hookonce.payload p on p.id = e.payload
; end $run$;

create function hookonce.run_claim_cancels(bigint[], bigint[])
returns setof bigint language plpgsql volatile set search_path = pg_catalog, pg_temp as $run$
begin return query
-- Behind the claim, in a statement of its own: which of the heads a person has cancelled.
select d.seq from unnest($1::int8[], $2::int8[]) as c (lane, seq)
join hookonce.delivery d on d.lane = c.lane and d.seq = c.seq where d.cancel
; end $run$;

create function hookonce.run_settle_lock(bigint[], bigint[], bytea[], bigint[], bigint)
returns setof bigint language plpgsql volatile set search_path = pg_catalog, pg_temp as $run$
begin return query
-- Mirrors M4
-- First the work rows, by seq: while a lease holds, nobody else writes its row.
select w.seq from unnest($1::int8[], $2::int8[], $3::bytea[], $4::int8[]) as a (seq, epoch, token, store)
join hookonce.work w on w.seq = a.seq and w.epoch = a.epoch and w.token = a.token and a.store = $5
order by w.seq for update of w
; end $run$;

create function hookonce.run_settle_lane(bigint[], bigint[])
returns setof integer language plpgsql volatile set search_path = pg_catalog, pg_temp as $run$
begin return query
-- Then the deliveries that leave their lanes, so that a router that appends behind one of them is over before the next
-- statement looks for who is next. Lock and look in one statement would look with the snapshot from before the wait.
select 1 from unnest($1::int8[], $2::int8[]) as a (lane, seq)
join hookonce.delivery d on d.lane = a.lane and d.seq = a.seq
order by d.lane, d.seq for no key update of d
; end $run$;

create function hookonce.run_settle_end(bigint[], bigint[], bytea[], bigint[], bigint, boolean[], text[], bigint[], text[],
    text[], bigint[], bigint[], text[], text[], bigint)
returns setof bigint language plpgsql volatile set search_path = pg_catalog, pg_temp as $run$
begin return query
-- Mirrors M4
-- Mirrors M5
-- Everything is taken from `gone`: a fenced head changes nothing. Under an isolation that reads an older snapshot who is
-- next may not be seen yet: then the router asks the lane again. History is numbered and bounded (`$15`) as in `claim`.
with gone as materialized (delete from hookonce.work w
  using unnest($1::int8[], $2::int8[], $3::bytea[], $4::int8[], $6::bool[], $7::text[], $8::int8[], $9::text[], $10::text[],
      $11::int8[], $12::int8[], $13::text[], $14::text[])
    as a (seq, epoch, token, store, open, state, attempts, kind, reason, started, ended, outcome, detail)
  where w.seq = a.seq and w.epoch = a.epoch and w.token = a.token and a.store = $5
  returning w.seq, w.id, w.lane, w.consumer, w.event, w.generation, w.lost, w.epoch, a.open, a.state, a.attempts, a.kind,
    a.reason, a.started, a.ended, a.outcome, a.detail),
clock as materialized (select hookonce.now_us() as now),
ended as (update hookonce.delivery d
  set open = g.open, state = g.state, attempts = g.attempts, ended = (select now from clock)
  from gone g where d.lane = g.lane and d.seq = g.seq),
halted as (insert into hookonce.halted
    (id, seq, lane, consumer, event, generation, kind, reason, since, attempts, lost, epoch)
  select id, seq, lane, consumer, event, generation, kind, reason, (select now from clock), attempts, lost, epoch
  from gone where kind is not null),
last as materialized (select g.id as delivery, l.id, l.no from gone g
  cross join lateral (select a.id, a.no from hookonce.attempt a where a.delivery = g.id
    order by a.delivery desc, a.id desc limit 1) l),
replaced as (delete from hookonce.attempt a using last l where a.id = l.id and l.no >= $15),
tried as (insert into hookonce.attempt (delivery, no, started, ended, outcome, detail)
  select g.id, coalesce(l.no, 0) + 1, g.started, g.ended, g.outcome, g.detail
  from gone g left join last l on l.delivery = g.id),
next as (insert into hookonce.work (seq, id, lane, event, consumer, generation, repeat, due, decided)
  select d.seq, d.id, d.lane, d.event, d.consumer, d.generation, d.repeat, (select now from clock), d.decided
  from gone g
  cross join lateral (select * from hookonce.delivery n
    where n.lane = g.lane and n.seq > g.seq and n.open order by n.lane, n.seq limit 1) d
  where not g.open and g.lane < 0
    and not exists (select 1 from hookonce.work w where w.seq = d.seq)
    and not exists (select 1 from hookonce.halted h where h.id = d.id)
  returning lane),
unsure as (insert into hookonce.lane_check (lane, behind)
  select g.lane, g.seq from gone g
  where not g.open and g.lane < 0 and current_setting('transaction_isolation') <> 'read committed'
    and not exists (select 1 from next n where n.lane = g.lane))
select seq from gone
; end $run$;

create function hookonce.run_settle_later(bigint[], bigint[], bytea[], bigint[], bigint, bigint[], boolean[], bigint[],
    bigint[], bigint[], text[], text[], bigint)
returns setof bigint language plpgsql volatile set search_path = pg_catalog, pg_temp as $run$
begin return query
-- Mirrors M4
-- The row stays the head of its lane, so no delivery is locked. History is numbered and bounded (`$13`)
-- as in `claim`.
with kept as (update hookonce.work w
  set due = (select hookonce.now_us()) + a.delay, token = null, owner = null, attempts = a.attempts,
    since = coalesce(w.since, case when a.counted then (select hookonce.now_us()) end)
  from unnest($1::int8[], $2::int8[], $3::bytea[], $4::int8[], $6::int8[], $7::bool[], $8::int8[], $9::int8[], $10::int8[],
      $11::text[], $12::text[])
    as a (seq, epoch, token, store, delay, counted, attempts, started, ended, outcome, detail)
  where w.seq = a.seq and w.epoch = a.epoch and w.token = a.token and a.store = $5
  returning w.seq, w.id, a.started, a.ended, a.outcome, a.detail),
last as materialized (select k.id as delivery, l.id, l.no from kept k
  cross join lateral (select a.id, a.no from hookonce.attempt a where a.delivery = k.id
    order by a.delivery desc, a.id desc limit 1) l),
replaced as (delete from hookonce.attempt a using last l where a.id = l.id and l.no >= $13),
tried as (insert into hookonce.attempt (delivery, no, started, ended, outcome, detail)
  select k.id, coalesce(l.no, 0) + 1, k.started, k.ended, k.outcome, k.detail
  from kept k left join last l on l.delivery = k.id)
select seq from kept
; end $run$;

-- Settling.

create function hookonce.store_generation() returns bigint language sql stable
as $$ select convert_from(value, 'UTF8')::bigint from hookonce.setting where name = 'generation' $$;

-- The definition in force: the newest one.
create function hookonce.definition(consumer bigint) returns jsonb language sql stable
as $$ select definition::jsonb from hookonce.consumer where id = $1 order by number desc limit 1 $$;

-- The row that a lease is on, locked; or the error that tells a worker that it has lost.
create function hookonce.held(l hookonce.lease) returns hookonce.work language plpgsql volatile
set search_path = pg_catalog, pg_temp as $$
declare
    w hookonce.work;
begin
    perform hookonce.run_settle_lock(array[l.seq], array[l.epoch], array[l.token], array[l.store], hookonce.store_generation());
    if not found then
        raise exception 'the lease is lost: its time was over and another worker has the delivery, or it is settled already'
            using errcode = 'KO001', hint = 'roll back: whoever has the lease does the work';
    end if;
    select * into strict w from hookonce.work where seq = l.seq;
    return w;
end $$;

-- Ended or halted (`kind`): out of the queue. `open`: it holds its lane.
create function hookonce.ends(l hookonce.lease, w hookonce.work, state text, kind text, open boolean, attempts bigint,
    outcome text, detail text)
returns void language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
begin
    if w.lane < 0 and not open then
        perform hookonce.run_settle_lane(array[w.lane], array[w.seq]);
    end if;
    perform hookonce.run_settle_end(array[l.seq], array[l.epoch], array[l.token], array[l.store], hookonce.store_generation(),
        array[open], array[state], array[attempts], array[kind], array[left(detail, 500)], array[l.started],
        array[hookonce.now_us()], array[outcome], array[left(detail, 500)], 1000);
end $$;

-- Runs again after the delay.
create function hookonce.goes_on(l hookonce.lease, delay bigint, counted boolean, attempts bigint, outcome text, detail text)
returns void language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
begin
    perform hookonce.run_settle_later(array[l.seq], array[l.epoch], array[l.token], array[l.store],
        hookonce.store_generation(), array[delay], array[counted], array[attempts], array[l.started],
        array[hookonce.now_us()], array[outcome], array[left(detail, 500)], 1000);
end $$;

-- Out of patience, or lost too often.
create function hookonce.dies(l hookonce.lease, w hookonce.work, attempts bigint, outcome text, detail text)
returns void language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
    d jsonb := hookonce.definition(w.consumer);
begin
    perform hookonce.ends(l, w, 'permanently_failed', 'dead', d ->> 'order' <> 'none' and d ->> 'on_dead' = 'hold',
        attempts, outcome, detail);
end $$;

-- A run of one lane goes on under the same token: whoever is next in it, and nobody else, gets the lease. Not where a
-- person has cancelled or paused meanwhile; nor where the next one cannot be seen from an older snapshot.
create function hookonce.hand_on(l hookonce.lease, w hookonce.work) returns void language sql volatile
as $$ update hookonce.work n set token = l.token, epoch = n.epoch + 1, due = w.due, owner = null
    where n.seq = l.next and n.lane = w.lane and n.token is null and n.epoch = 0
      and not exists (select 1 from hookonce.delivery d where d.lane = n.lane and d.seq = n.seq and d.cancel)
      and (select s.state from hookonce.consumer s where s.id = n.consumer order by s.number desc limit 1) = 'live' $$;

-- What is published.

create function hookonce.done(lease text) returns void language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
    l hookonce.lease := hookonce.lease_of(lease);
    w hookonce.work := hookonce.held(l);
begin
    perform hookonce.ends(l, w, 'succeeded', null, false, w.attempts + 1, 'done', '');
    perform hookonce.hand_on(l, w);
end $$;

create function hookonce.cancel(lease text, reason text) returns void language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
    l hookonce.lease := hookonce.lease_of(lease);
    w hookonce.work := hookonce.held(l);
begin
    perform hookonce.ends(l, w, 'cancelled', null, false, w.attempts + 1, 'discarded', coalesce(reason, ''));
    perform hookonce.hand_on(l, w);
end $$;

create function hookonce.park(lease text, reason text) returns void language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
    l hookonce.lease := hookonce.lease_of(lease);
    w hookonce.work := hookonce.held(l);
begin
    perform hookonce.ends(l, w, 'parked', 'parked', hookonce.definition(w.consumer) ->> 'order' = 'arrival',
        w.attempts + 1, 'parked', coalesce(reason, ''));
end $$;

-- Mirrors M7
create function hookonce.fail(lease text, reason text, retry_in interval default null) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
    l hookonce.lease := hookonce.lease_of(lease);
    w hookonce.work := hookonce.held(l);
    retry jsonb := hookonce.definition(w.consumer) -> 'retry';
    now bigint := hookonce.now_us();
    attempts bigint := w.attempts + 1;
    most bigint := retry ->> 3;
    given_up boolean := now - coalesce(w.since, now) >= (retry ->> 2)::bigint;
begin
    if given_up or (most > 0 and attempts >= most) then
        perform hookonce.dies(l, w, attempts, 'failed', coalesce(reason, ''));
    else
        perform hookonce.goes_on(l, hookonce.delay(retry, attempts, hookonce.micros(retry_in)), true, attempts, 'failed',
            coalesce(reason, ''));
    end if;
end $$;

create function hookonce.snooze(lease text, delay interval) returns void language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
    l hookonce.lease := hookonce.lease_of(lease);
    w hookonce.work := hookonce.held(l);
begin
    if delay is null then
        raise exception 'snooze for how long?' using errcode = 'invalid_parameter_value', hint = 'give an interval';
    end if;
    perform hookonce.goes_on(l, greatest(hookonce.micros(delay), 0), false, w.attempts, 'snoozed', '');
end $$;

-- The consumer of that name, if it is one for these functions; `n` and `lease` within their bounds.
create function hookonce.pulled(consumer text, n integer, lease interval) returns bigint language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    c hookonce.consumer;
    d jsonb;
begin
    if n is null or n not between 1 and 500 or coalesce(hookonce.micros(lease), 0) not between 1 and 86400000000 then
        raise exception '`n` is 1 to 500, `lease` at most a day' using errcode = 'invalid_parameter_value';
    end if;
    select * into c from hookonce.consumer s where s.name = consumer order by s.number desc limit 1;
    d := c.definition;
    if d ->> 'kind' is distinct from 'pull' then
        raise exception 'no consumer `%` can be claimed', consumer using errcode = 'KO002',
            hint = 'it is one with `kind = "pull"` in hookonce.toml, from the start of a node with it on';
    end if;
    if d ->> 'order' not in ('none', 'arrival') then
        raise exception 'the order of consumer `%` is not decided in SQL', consumer using errcode = 'KO002',
            hint = 'pull it over HTTP: /v1';
    end if;
    return c.id;
end $$;

-- Claims heads, and ends at once what is not to be run: its payload is gone, a person has cancelled it, or its workers
-- were lost too often (Mirrors M7). What was lost three times is taken by itself, when nothing else is due.
create function hookonce.take(consumer bigint, n integer, length bigint) returns setof hookonce.claim_row
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
    low constant bigint := -9223372036854775808;
    rounds constant integer := 100;
    tokens bytea[] := array(select uuid_send(gen_random_uuid()) from generate_series(1, n));
    taken hookonce.claim_row[];
    there bigint[];
    cancelled bigint[];
    r hookonce.claim_row;
    l hookonce.lease;
    handed boolean := false;
begin
    for round in 1 .. rounds loop
        taken := array(select c from hookonce.run_claim(consumer, tokens, low, 3, n, length, null, 1000) c order by c.due, c.seq);
        if cardinality(taken) = 0 then
            taken := array(select c from hookonce.run_claim_quiet(consumer, tokens, low, 3, 1, length, null, 1000) c);
        end if;
        there := array(select e.id from unnest(taken) t join hookonce.event e on e.id = t.event
            join hookonce.payload p on p.id = e.payload);
        cancelled := array(select hookonce.run_claim_cancels(array(select lane from unnest(taken)),
            array(select seq from unnest(taken))));
        foreach r in array taken loop
            l := row(r.seq, r.epoch, hookonce.store_generation(), r.now, 0, r.token);
            if r.event <> all (there) then
                perform hookonce.ends(l, hookonce.held(l), 'cancelled', null, false, r.attempts, 'cancelled', 'its payload is gone');
            elsif r.seq = any (cancelled) then
                perform hookonce.ends(l, hookonce.held(l), 'cancelled', null, false, r.attempts, 'cancelled', 'cancelled by a person');
            elsif r.lost >= 8 then
                perform hookonce.dies(l, hookonce.held(l), r.attempts, 'dead', 'worker lost');
            else
                return next r;
                handed := true;
            end if;
        end loop;
        exit when handed or cardinality(taken) = 0;
    end loop;
end $$;

-- Those that stand behind a head in its lane, up to the first that a person has cancelled. They have no lease yet: the
-- head's is handed on to them. What was lost before runs alone.
create function hookonce.behind(head hookonce.claim_row, n integer) returns setof hookonce.claim_row
language sql stable
as $$ select seq, id, head.token, lane, event, generation, 0::bigint, 0::bigint, null::bigint, decided, 1::bigint, head.due, head.now
    from (select f.*, bool_or(f.cancel) over (order by f.seq) as stopped
        from (select d.* from hookonce.delivery d
            where d.lane = head.lane and d.seq > head.seq and d.open order by d.lane, d.seq limit n) f) f
    where not stopped and head.lost = 0 order by seq $$;

-- What workers see of what was claimed. `run`: the rows are one lane's, and the lease goes from one to the next.
create function hookonce.shown(rows hookonce.claim_row[], run boolean) returns setof hookonce.claimed
language sql volatile
as $$ select hookonce.lease_text(row(r.seq, r.epoch, hookonce.store_generation(), r.now,
            case when run then coalesce(lead(r.seq) over (order by r.ordinality), 0) else 0 end, r.token)::hookonce.lease),
        hookonce.event_id(b.id), b.source, b.key_text, b.type, b.aggregate, b.version, r.generation, r.attempts, h.pairs,
        case when b.span_start is null or h.coded then b.body
            else substring(b.body from b.span_start::int + 1 for (b.span_end - b.span_start)::int) end,
        case when h.coded then b.span_start end, case when h.coded then b.span_end end
    from unnest(rows) with ordinality r
    join lateral hookonce.run_claim_bodies(array[r.event]) b on true
    cross join lateral (select p as pairs, hookonce.is_coded(p) as coded from hookonce.header_pairs(b.headers) p) h
    order by r.ordinality $$;

create function hookonce.claim(consumer text, n integer default 1, lease interval default '30 seconds')
returns setof hookonce.claimed language plpgsql volatile security definer rows 10
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
    id bigint := hookonce.pulled(consumer, n, lease);
begin
    return query select * from hookonce.shown(array(select t from hookonce.take(id, n, hookonce.micros(lease)) t), false);
end $$;

-- A head and up to `n` - 1 that stand behind it in its lane, in their order.
create function hookonce.claim_lane(consumer text, n integer default 1, lease interval default '30 seconds')
returns setof hookonce.claimed language plpgsql volatile security definer rows 10
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
    id bigint := hookonce.pulled(consumer, n, lease);
    head hookonce.claim_row[] := array(select t from hookonce.take(id, 1, hookonce.micros(lease)) t);
begin
    return query select * from hookonce.shown(head || array(select b from unnest(head) h, hookonce.behind(h, n - 1) b), true);
end $$;

-- Who may call what: nobody but whom the owner of the database grants it to (docs/SQL.md).
revoke all on all functions in schema hookonce from public;
grant execute on function hookonce.instant(bigint), hookonce.event_id(bigint), hookonce.header_pairs(bytea),
    hookonce.now_us() to public;

-- Views to read. Times are of the server's clock.

create view hookonce.v_events as
select hookonce.event_id(e.id) as event, e.id as number, e.namespace, e.source, e.key_text as key, e.type, e.aggregate,
    e.version, hookonce.instant(e.event_time) as event_time, hookonce.instant(e.received) as received, e.origin,
    e.hold_reason, hookonce.header_pairs(p.headers) as headers, p.body, e.span_start, e.span_end
from hookonce.event e left join hookonce.payload p on p.id = e.payload;

create view hookonce.v_deliveries as
select hookonce.event_id(f.event) as event, f.event as number, f.name as consumer, f.generation,
    case when f.halted = 'gap' then 'waiting' when f.halted = 'parked' then 'parked'
        when f.halted = 'dead' then 'permanently_failed'
        when f.leased and f.due > (select hookonce.now_us()) then 'processing'
        when f.due is not null and f.tried > 0 then 'retryable_failed'
        when f.due is not null then 'ready'
        else coalesce(f.stored, 'waiting') end as state,
    coalesce(f.tried, f.halted_attempts, f.counted) as attempts, coalesce(f.losses, f.halted_lost) as lost,
    hookonce.instant(f.due) as due,
    hookonce.instant((select min(a.started) from hookonce.attempt a where a.delivery = f.id)) as first_started,
    hookonce.instant(f.ended) as finished,
    (select a.detail from hookonce.attempt a where a.delivery = f.id and a.detail <> '' order by a.id desc limit 1) as last_error
from hookonce.delivery_facts f;

create view hookonce.v_attempts as
select hookonce.event_id(d.event) as event, d.event as number,
    (select c.name from hookonce.consumer c where c.id = d.consumer order by c.number desc limit 1) as consumer,
    d.generation, a.no, hookonce.instant(a.started) as started, hookonce.instant(a.ended) as ended, a.outcome, a.detail
from hookonce.attempt a join hookonce.delivery d on d.id = a.delivery;
