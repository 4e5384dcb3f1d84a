-- What a person finds, locked: whether it holds its lane decides how it comes back.
select h.kind, d.open, h.seq, h.event, h.consumer, h.generation, h.lane, h.epoch
from hookonce.halted h join hookonce.delivery d on d.lane = h.lane and d.seq = h.seq
where h.id = $1 for update of h
