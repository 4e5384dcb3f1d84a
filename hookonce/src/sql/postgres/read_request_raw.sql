-- Duplicates have no bytes of their own: they are those of the event.
select p.target, p.headers, p.body from hookonce.request q join hookonce.payload p on p.id = q.payload where q.id = $1
