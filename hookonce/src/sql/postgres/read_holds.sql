-- Undecided ones, from the newest back.
select event, reason, evidence, since from hookonce.hold where event < $1 and released is null order by event desc limit $2
