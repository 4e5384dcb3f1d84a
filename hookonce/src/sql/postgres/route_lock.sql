-- Never waits for another router. Whether the row is still the last one, the next statement says.
select n from hookonce.pass where n = (select max(n) from hookonce.pass) for no key update skip locked
