-- On the inbox file, by a connection that only reads: what is visible there is flushed.
select value from hookonce_setting where name = 'event_counter'
