-- Where consumers begin that no pass has listed yet.
select id, from_pos, state from hookonce_consumer order by id, number
