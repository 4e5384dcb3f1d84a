-- The configuration in force.
select config from hookonce.pass order by n desc limit 1
