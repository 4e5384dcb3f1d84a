-- The content that this request came with, if it is one of those that are kept for its key.
select '', c.headers, c.body from hookonce_request q
join hookonce_event e on e.id = q.event join hookonce_conflict c on c.digest = e.digest and c.fingerprint = q.fingerprint
where q.id = ?1
