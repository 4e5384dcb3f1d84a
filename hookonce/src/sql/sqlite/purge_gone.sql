-- Nothing is left to be looked at again.
delete from hookonce_keep where event = ?1 and what = ?2
