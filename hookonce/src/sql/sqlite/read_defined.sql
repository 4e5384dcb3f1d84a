-- The newest row of each name.
select c.name, c.state, c.definition from hookonce_consumer c
where c.number = (select max(number) from hookonce_consumer n where n.id = c.id) order by c.name
