-- Bytes that somebody has yet to decide about.
select exists (select 1 from hookonce_unmapped where payload = ?1 and decided is null)
