-- An admission that met the row ends first, and what it has written is read by the next statement. In the order of the
-- digests, as admissions take them.
select l.digest from hookonce.ledger l where l.digest = any($1) order by l.digest for update
