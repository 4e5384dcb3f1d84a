-- In the transaction of what it decides.
insert into hookonce_audit (id, at, actor, action, target, reason, detail, prev, hash)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
