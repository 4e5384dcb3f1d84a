-- An old rule leaves when its ledger rows have.
update hookonce_rule set last_used = max(last_used, ?2) where number = ?1
