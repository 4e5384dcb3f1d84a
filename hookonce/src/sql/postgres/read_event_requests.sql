-- What came for one event after the first.
select id, at, source, verdict, event, reason, secret, provider_delivery, attempt_mark, item, null
from hookonce.request where event = $1 order by id limit $2
