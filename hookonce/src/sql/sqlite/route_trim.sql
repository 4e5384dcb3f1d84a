-- The rows that say how far somebody has got stay, however old.
delete from hookonce_pass where n <= ?1 and n not in (select value from json_each(?2))
