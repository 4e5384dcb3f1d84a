-- Only what does not hold its lane goes to the tail.
select h.id, d.lane, d.seq, d.event, d.consumer, d.generation, h.epoch
from hookonce_halted h join hookonce_delivery d on d.seq = h.seq where h.id = ?1 and d.open = 0
