-- In the transaction of what it decides. Whoever decided at the same moment has the number, and this one is asked again.
insert into hookonce.inbox_audit (id, at, actor, action, target, reason, detail, prev, hash)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (id) do nothing
