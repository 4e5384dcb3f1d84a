-- Of a further event of a known key this row is the ledger row.
delete from hookonce.conflict c using unnest($1::bytea[], $2::bigint[]) as g(digest, event)
where c.digest = g.digest and c.event = g.event
