-- The newest row of each name; names are compared byte by byte, whatever the database's language.
select c.name, c.state, c.definition from hookonce.consumer c
where c.number = (select max(n.number) from hookonce.consumer n where n.id = c.id) order by c.name collate "C"
