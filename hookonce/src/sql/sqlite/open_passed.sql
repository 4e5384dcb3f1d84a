-- Where the router stands, for the check that the work file does not lead.
select coalesce(max(pos), 0) from hookonce_pass
