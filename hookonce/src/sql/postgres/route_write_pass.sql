-- Append-only: the number is the fence. Somebody whose configuration came into force meanwhile has it, and this pass is
-- rolled back.
insert into hookonce.pass (n, pos, seq, consumers, own, config, node, at)
values ($1, $2, $3, $4, $5, $6, $7, (select hookonce.now_us())) on conflict (n) do nothing returning n
