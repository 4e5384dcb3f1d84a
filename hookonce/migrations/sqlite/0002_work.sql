-- What cleaning has passed by and looks at again; without an instant: it is going.
create table hookonce_keep (
    event integer not null,
    what  text    not null,
    due   integer,
    primary key (event, what)
) strict, without rowid;
create index hookonce_keep_due on hookonce_keep (what, due);
create index hookonce_requeue_event on hookonce_requeue (event);
