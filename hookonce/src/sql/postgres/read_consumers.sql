-- The newest row of each name is in force; names are compared byte by byte, whatever the database's language.
select c.id, c.name, c.state from hookonce.consumer c
where c.number = (select max(n.number) from hookonce.consumer n where n.id = c.id) order by c.name collate "C"
