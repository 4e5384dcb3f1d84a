-- How far each consumer has got; what a router has read before, it does not read again.
select n, pos, own, consumers from hookonce.pass where n > $1 order by n
