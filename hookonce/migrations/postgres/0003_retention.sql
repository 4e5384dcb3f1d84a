-- Retention. The digest of its guard row, by which that row goes with the event.
alter table hookonce.event add column guard bytea;
-- Bytes that several events share go with the last of them; who came alone pays nothing.
create index event_part on hookonce.event (payload) where span_start is not null;
create index unmapped_payload on hookonce.unmapped (payload);

-- What cleaning has passed by and looks at again.
create table hookonce.keep (
    event bigint not null,
    what  text   not null,
    due   bigint,
    primary key (event, what)
);
create index keep_due on hookonce.keep (what, due);
create index requeue_event on hookonce.requeue (event);
