-- What stays of a stretch that goes.
select event from hookonce_keep where what = ?1 and event > ?2 and event <= ?3 and due is not null
