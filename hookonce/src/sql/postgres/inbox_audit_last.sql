-- The end of the requests' chain, with the clock that its next row is dated by.
select (select hookonce.now_us()), l.id, l.hash
from (values (1)) as one left join lateral (select a.id, a.hash from hookonce.inbox_audit a order by a.id desc limit 1) l on true
