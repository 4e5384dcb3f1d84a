-- It was held only because nobody took it.
update hookonce_hold set released = 1 where event = ?1
