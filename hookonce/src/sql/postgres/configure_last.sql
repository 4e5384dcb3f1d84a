-- The newest pass, with position and list of the newest that was not for one consumer alone. Cleaning and a router stand
-- still for it, and it waits for them: a consumer that comes meanwhile would meet what is going.
select p.n, m.pos, p.seq, m.consumers, p.config
from (select n, seq, config from hookonce.pass order by n desc limit 1 for no key update) p
left join (select pos, consumers from hookonce.pass where own is null order by n desc limit 1) m on true
