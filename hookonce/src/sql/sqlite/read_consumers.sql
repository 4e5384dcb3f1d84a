-- The newest row of each name is in force.
select c.id, c.name, c.state from hookonce_consumer c
where c.number = (select max(number) from hookonce_consumer n where n.id = c.id) order by c.name
