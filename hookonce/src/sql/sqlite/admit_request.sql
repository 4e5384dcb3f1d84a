-- At most ?12 rows for one event: beyond it they are only counted, in the ledger or the conflict row.
insert into hookonce_request (id, payload, item, source, at, verdict, event, provider_delivery, attempt_mark, secret, reason)
select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
where ?7 is null or (select count(*) from (
  select 1 from hookonce_request indexed by hookonce_request_event where event = ?7 limit ?12)) < ?12
