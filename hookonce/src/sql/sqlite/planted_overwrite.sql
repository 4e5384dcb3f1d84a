-- Only in builds with planted bugs: the later content takes the place of the first.
update hookonce_payload set body = ?2 where id = (select payload from hookonce_event where id = ?1)
