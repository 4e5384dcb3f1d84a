-- The first entry of the index.
select min(due) from hookonce_work indexed by hookonce_work_due where consumer = ?1
