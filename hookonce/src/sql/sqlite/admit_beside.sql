-- Mirrors M2
-- What stands beside a new key: whose guard row it met, and the floor of its namespace.
select (select event from hookonce_ledger where digest = ?1), (select floor from hookonce_namespace where name = ?2)
