-- One of them.
select q.id, q.at, q.source, q.verdict, q.event, q.reason, q.secret, q.provider_delivery, q.attempt_mark, q.item, u.decided
from hookonce.request q left join hookonce.unmapped u on u.id = q.id where q.id = $1
