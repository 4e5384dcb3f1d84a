-- The conflict row that this request made.
select '', c.headers, c.body from hookonce.request q
join hookonce.event e on e.id = q.event join hookonce.conflict c on c.digest = e.digest and c.first_seen = q.at
where q.id = $1 and q.verdict = 'conflict' limit 1
