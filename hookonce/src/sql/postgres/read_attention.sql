-- Events with a delivery that waits for a person, from the newest back.
select distinct event from hookonce.halted where event < $1 and kind in ('dead', 'parked') order by event desc limit $2
