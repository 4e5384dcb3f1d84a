-- Duplicates, conflicts and unmapped ones; an accepted request is read from its event.
insert into hookonce_request (id, payload, item, source, at, verdict, event, fingerprint, provider_delivery, attempt_mark, secret,
  reason)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
