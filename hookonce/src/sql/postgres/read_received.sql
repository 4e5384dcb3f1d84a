-- When an event came.
select received from hookonce.event where id = $1
