-- Cursor, fence and configuration in one row; the position is that of the last pass that was nobody's own. With the clock
-- and the newest number that anybody has drawn, committed or not: what is above it is still to come. Before the first is
-- drawn the sequence already names it.
select n, (select pos from hookonce.pass where own is null order by n desc limit 1), seq, config, own,
  (select consumers from hookonce.pass where own is null order by n desc limit 1), (select hookonce.now_us()),
  (select case when is_called then last_value else 0 end from hookonce.number)
from hookonce.pass order by n desc limit 1
