-- A check is dropped only once its tail could be locked or was gone.
delete from hookonce.lane_check where id = any ($1::int8[])
