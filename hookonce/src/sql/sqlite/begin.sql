-- Immediate: a transaction that reads first and writes later fails at once under contention, whatever the busy time-out.
begin immediate
