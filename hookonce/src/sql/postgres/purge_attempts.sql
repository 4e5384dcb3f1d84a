-- History of what ended.
delete from hookonce.attempt a using hookonce.delivery d where d.event = any($1) and a.delivery = d.id
