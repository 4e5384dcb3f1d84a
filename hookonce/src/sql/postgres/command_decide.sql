-- In the commit of its audit row.
update hookonce.hold set decided = $2, released = $3::int8 = 1 where event = $1
