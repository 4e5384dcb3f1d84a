-- Append-only: the number is the fence.
insert into hookonce_pass (n, pos, seq, consumers, own, config, node, at) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
