-- The work file: deliveries, attempts and (later) consumers' own tables. It may lag behind the inbox file, never lead.
create table hookonce_setting (name text primary key, value blob not null) strict, without rowid;

-- Append-only: cursor, fence and configuration of the router in one row.
create table hookonce_pass (
    n         integer primary key,
    pos       integer not null,
    seq       integer not null,
    consumers text    not null,
    own       integer,
    config    integer not null,
    node      integer not null,
    at        integer not null
) strict;

-- A row per version of a definition; the id is the name's and stays.
create table hookonce_consumer (
    id         integer not null,
    name       text    not null,
    number     integer not null,
    from_pos   integer not null,
    definition text    not null,
    state      text    not null,
    primary key (id, number)
) strict, without rowid;

-- rowid = seq. Written twice in its life: insert and end.
create table hookonce_delivery (
    seq        integer primary key,
    lane       integer not null,
    id         integer not null,
    consumer   integer not null,
    event      integer not null,
    generation integer not null,
    repeat     text,
    open       integer not null,
    cancel     integer not null default 0,
    decided    integer,
    state      text,
    attempts   integer not null default 0,
    ended      integer
) strict;
create index hookonce_delivery_lane on hookonce_delivery (lane, seq);
create unique index hookonce_delivery_event on hookonce_delivery (event, consumer, generation);
-- Almost always empty: what was moved to a tail and is asked for by its id.
create index hookonce_delivery_moved on hookonce_delivery (id) where id <> seq;

-- Only what can run now or later: one row per lane head, or per delivery without a lane.
create table hookonce_work (
    seq        integer primary key,
    id         integer not null,
    lane       integer not null,
    event      integer not null,
    consumer   integer not null,
    generation integer not null,
    repeat     text,
    due        integer not null,
    since      integer,
    attempts   integer not null default 0,
    lost       integer not null default 0,
    decided    integer,
    epoch      integer not null default 0,
    token      blob,
    owner      integer
) strict;
create index hookonce_work_due on hookonce_work (consumer, due);
-- Almost always empty: rows that must run with nothing beside them, found without walking the others.
create index hookonce_work_lost on hookonce_work (consumer, due) where lost >= 3;

-- What waits for a person or for a predecessor. It is out of the queue.
create table hookonce_halted (
    id         integer primary key,
    seq        integer not null,
    lane       integer not null,
    consumer   integer not null,
    event      integer not null,
    generation integer not null,
    aggregate  text,
    version    text,
    kind       text    not null,
    reason     text    not null,
    evidence   text,
    since      integer not null,
    attempts   integer not null,
    lost       integer not null,
    epoch      integer not null
) strict;
create index hookonce_halted_kind on hookonce_halted (kind, since);

create table hookonce_hold (
    event    integer primary key,
    reason   text    not null,
    evidence text,
    since    integer not null,
    decided  integer,
    released integer
) strict;

create table hookonce_requeue (
    id         integer primary key,
    kind       text    not null,
    event      integer not null,
    consumer   integer,
    generation integer not null,
    repeat     text,
    decided    integer,
    delivery   integer
) strict;

create table hookonce_attempt (
    delivery integer not null,
    no       integer not null,
    started  integer not null,
    ended    integer not null,
    outcome  text    not null,
    detail   text    not null
) strict;
create index hookonce_attempt_delivery on hookonce_attempt (delivery);

create table hookonce_node (
    instance integer primary key,
    started  integer not null,
    seen     integer not null,
    version  text    not null
) strict;

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

-- Everything that the state of a delivery is read from, beside it. The state itself depends on the clock.
create view hookonce_delivery_facts as
select d.seq, d.id, d.lane, d.consumer, d.event, d.generation, d.open, d.state as stored, d.attempts as counted, d.ended,
  w.due, w.token is not null as leased, w.attempts as tried, w.lost as losses, h.kind as halted, h.reason as halted_reason,
  h.attempts as halted_attempts, h.lost as halted_lost,
  (select c.name from hookonce_consumer c where c.id = d.consumer order by c.number desc limit 1) as name,
  (select a.detail from hookonce_attempt a where a.delivery = d.id order by a.rowid desc limit 1) as last_detail
from hookonce_delivery d
left join hookonce_work w on w.seq = d.seq
left join hookonce_halted h on h.id = d.id and h.seq = d.seq;
