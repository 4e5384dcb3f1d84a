-- What is left of refused requests.
select id, received, source, 'refused', null::bigint, reason, null, null, null, null::bigint, null
from hookonce.sample where id < $1 and ($2::text is null or source = $2) and ($3::text is null or $3 = 'refused')
order by id desc limit $4
