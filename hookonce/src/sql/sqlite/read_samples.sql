-- What is left of refused requests.
select id, received, source, 'refused', null, reason, null, null, null, null, null
from hookonce_sample where id < ?1 and (?2 is null or source = ?2) and (?3 is null or ?3 = 'refused')
order by id desc limit ?4
