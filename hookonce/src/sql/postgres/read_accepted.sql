-- An accepted request is read from its event.
select id, received, source, 'accepted', id, hold_reason, secret, provider_delivery, attempt_mark, item, null
from hookonce.event where id < $1 and ($2::text is null or source = $2) and ($3::text is null or $3 = 'accepted')
  and origin <> 'copy' and origin <> 'import' order by id desc limit $4
