-- The first entry of the index, and the clock that it is compared with.
select (select due from hookonce.work where consumer = $1 order by consumer, due limit 1), (select hookonce.now_us())
