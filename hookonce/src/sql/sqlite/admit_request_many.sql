-- Whether an event has as many rows as are kept; beyond them copies are only counted, in the ledger or the conflict row.
select exists (select 1 from hookonce_request indexed by hookonce_request_event where event = ?1 limit 1 offset ?2)
