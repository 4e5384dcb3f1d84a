-- Who has been heard of so lately, and what they run.
select instance, config, version from hookonce.node
where ended is null and seen > (select hookonce.now_us()) - $1 order by instance
