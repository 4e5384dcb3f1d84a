-- Collides with a router's pass on the number, as two routers do.
insert into hookonce.pass (n, pos, seq, consumers, own, config, node, at)
values ($1, $2, $3, $4, null, $5, $6, (select hookonce.now_us())) on conflict do nothing
