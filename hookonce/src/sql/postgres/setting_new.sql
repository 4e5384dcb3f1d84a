-- Only the first who says it: nodes start at the same moment.
insert into hookonce.setting (name, value) values ($1, $2) on conflict (name) do nothing
