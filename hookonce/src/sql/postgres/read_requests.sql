-- All but the accepted and the refused ones, from the newest back.
select q.id, q.at, q.source, q.verdict, q.event, q.reason, q.secret, q.provider_delivery, q.attempt_mark, q.item, u.decided
from hookonce.request q left join hookonce.unmapped u on u.id = q.id
where q.id < $1 and ($2::text is null or q.source = $2) and ($3::text is null or q.verdict = $3) order by q.id desc limit $4
