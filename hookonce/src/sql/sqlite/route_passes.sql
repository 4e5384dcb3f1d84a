-- Read once, at the start: how far each consumer has got is then kept beside the writer.
select n, pos, own, consumers from hookonce_pass order by n
