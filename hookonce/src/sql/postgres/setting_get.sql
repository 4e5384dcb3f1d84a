-- Few rows, read at starts.
select value from hookonce.setting where name = $1
