-- Durable when it returns without a warning.
commit
