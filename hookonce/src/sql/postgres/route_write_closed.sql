-- They were held only because nobody took them.
update hookonce.hold set released = true where event = any ($1::int8[])
