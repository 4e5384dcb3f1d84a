-- What came for one event after the first.
select q.id, q.at, q.source, q.verdict, q.event, q.reason, q.secret, q.provider_delivery, q.attempt_mark, q.item, null
from hookonce_request q indexed by hookonce_request_event where q.event = ?1 order by q.id limit ?2
