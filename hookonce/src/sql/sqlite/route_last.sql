-- Cursor, fence and configuration in one row; the position is that of the last pass that was nobody's own.
select n, (select pos from hookonce_pass where own is null order by n desc limit 1), seq, config, own,
  (select consumers from hookonce_pass where own is null order by n desc limit 1)
from hookonce_pass order by n desc limit 1
