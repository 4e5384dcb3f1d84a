-- The rows that say how far somebody has got stay, however old. Whoever holds one of the others is not waited for.
delete from hookonce.pass where n in (select p.n from hookonce.pass p
  where p.n > $1 and p.n <= $2 and p.n <> all ($3::int8[])
    and p.n <> (select l.n from hookonce.pass l where l.own is null order by l.n desc limit 1)
  for update skip locked)
