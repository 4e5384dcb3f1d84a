-- Lanes that an earlier pass, or a settle under a stricter isolation, was not sure of.
select id, lane, behind from hookonce.lane_check order by id limit $1
