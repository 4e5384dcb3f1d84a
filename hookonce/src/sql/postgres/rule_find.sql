-- Equal definitions share a number.
select number from hookonce.rule where md5(definition) = md5($1) and definition = $1
