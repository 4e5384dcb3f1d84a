-- History of what ended. What was kept keeps its own.
delete from hookonce_attempt where delivery in (select d.id from hookonce_delivery d
  where d.event > ?1 and d.event <= ?2
    and not exists (select 1 from hookonce_keep k where k.event = d.event and k.what = 'event'))
