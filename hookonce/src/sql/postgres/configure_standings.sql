-- The newest row of each name is in force, or was.
select c.id, c.state from hookonce.consumer c
where c.number = (select max(n.number) from hookonce.consumer n where n.id = c.id)
