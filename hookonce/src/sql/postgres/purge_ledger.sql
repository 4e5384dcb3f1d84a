-- Keys and guard rows, unless they are another's.
delete from hookonce.ledger l using unnest($1::bytea[], $2::bigint[]) as g(digest, event)
where l.digest = g.digest and l.event = g.event
