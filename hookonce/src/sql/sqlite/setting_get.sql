-- Settings are text in a blob, so that one table holds numbers and names.
select value from hookonce_setting where name = ?1
