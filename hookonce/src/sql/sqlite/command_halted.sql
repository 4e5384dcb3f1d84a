-- What a person finds: whether it holds its lane decides how it comes back.
select h.kind, coalesce(d.open, 0), h.seq, h.event, h.consumer, h.generation
from hookonce_halted h left join hookonce_delivery d on d.seq = h.seq where h.id = ?1
