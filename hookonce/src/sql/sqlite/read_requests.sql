-- All but the accepted and the refused ones, from the newest back.
select q.id, q.at, q.source, q.verdict, q.event, q.reason, q.secret, q.provider_delivery, q.attempt_mark, q.item, u.decided
from hookonce_request q left join hookonce_unmapped u on u.id = q.id
where q.id < ?1 and (?2 is null or q.source = ?2) and (?3 is null or q.verdict = ?3) order by q.id desc limit ?4
