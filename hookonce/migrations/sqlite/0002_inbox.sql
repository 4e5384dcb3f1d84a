-- Retention. The digest of its guard row, by which that row goes with the event.
alter table hookonce_event add column guard blob;
-- Bytes that several events share go with the last of them; who came alone pays nothing.
create index hookonce_event_part on hookonce_event (payload) where span_start is not null;
create index hookonce_unmapped_payload on hookonce_unmapped (payload);
