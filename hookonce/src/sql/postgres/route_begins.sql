-- Where consumers begin that no pass has listed yet.
select id, from_pos from hookonce.consumer order by id, number
