-- What is left of refused requests.
select id, received, source, 'refused', null, reason, null, null, null, null, null
from hookonce_sample where received < ?1 and (?2 is null or source = ?2) and (?3 is null or ?3 = 'refused') and (?5 is null or id = ?5)
order by id desc limit ?4
