-- The inbox file: what an ack waits for. Everything here is written by one thread, in groups, with synchronous=FULL.
-- No foreign keys, no index that an ack would pay for without a figure (engine.md section 1).
create table hookonce_setting (name text primary key, value blob not null) strict, without rowid;

-- Random keys: the row is kept small because the page that it falls on is written at each commit.
create table hookonce_ledger (
    digest      blob    not null primary key,
    fingerprint blob    not null,
    body_hash   blob    not null,
    rule        integer not null,
    event       integer not null,
    first_seen  integer not null,
    last_seen   integer not null,
    seen        integer not null
) strict, without rowid;

create table hookonce_event (
    id                integer primary key,
    namespace         text    not null,
    kind              text    not null,
    key               blob    not null,
    key_text          text    not null,
    variant           integer not null,
    rule              integer not null,
    source            text    not null,
    type              text    not null,
    aggregate         text,
    version           text,
    event_time        integer,
    schema_version    text,
    received          integer not null,
    payload           integer not null,
    span_start        integer,
    span_end          integer,
    item              integer not null,
    digest            blob    not null,
    fingerprint       blob    not null,
    body_hash         blob    not null,
    secret            text,
    provider_delivery text,
    attempt_mark      text,
    origin            text    not null,
    parent            integer,
    hold_reason       text
) strict;

create table hookonce_payload (
    id      integer primary key,
    target  text not null,
    headers blob not null,
    body    blob not null
) strict;

-- Duplicates, conflicts and refused requests; an accepted one is read from its event. A conflict names by fingerprint
-- which of the kept contents it came with; its own body may not be kept.
create table hookonce_request (
    id                integer primary key,
    payload           integer,
    item              integer,
    source            text    not null,
    at                integer not null,
    verdict           text    not null,
    event             integer,
    fingerprint       blob,
    provider_delivery text,
    attempt_mark      text,
    secret            text,
    reason            text
) strict;
create index hookonce_request_event on hookonce_request (event) where event is not null;

create table hookonce_conflict (
    digest      blob    not null,
    fingerprint blob    not null,
    body_hash   blob    not null,
    headers     blob    not null,
    body        blob    not null,
    differs     text    not null,
    first_seen  integer not null,
    last_seen   integer not null,
    seen        integer not null,
    event       integer,
    primary key (digest, fingerprint)
) strict, without rowid;

-- Authentic bytes that the rules cannot map: never evicted, unfinished work until somebody decides.
create table hookonce_unmapped (
    id       integer primary key,
    source   text    not null,
    payload  integer not null,
    span_start integer,
    span_end integer,
    item     integer not null,
    secret   text,
    reason   text    not null,
    received integer not null,
    decided  text
) strict;

-- Refused requests: a bounded, redacted, evictable copy.
create table hookonce_sample (
    id       integer primary key,
    source   text    not null,
    target   text    not null,
    headers  blob    not null,
    body     blob    not null,
    reason   text    not null,
    received integer not null
) strict;

create table hookonce_namespace (name text primary key, floor integer) strict, without rowid;

create table hookonce_rule (
    number     integer primary key,
    source     text    not null,
    definition text    not null,
    last_used  integer not null
) strict;

-- One row per admission group, in its commit: counts that survive a crash and no row that everybody updates.
create table hookonce_tally (id integer primary key, at integer not null, counts text not null) strict;

create table hookonce_audit (
    id     integer primary key,
    at     integer not null,
    actor  text    not null,
    action text    not null,
    target text    not null,
    reason text    not null,
    detail text    not null,
    prev   blob    not null,
    hash   blob    not null
) strict;
