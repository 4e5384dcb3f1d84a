-- They live as long as their event.
delete from hookonce_delivery where event > ?1 and event <= ?2
  and not exists (select 1 from hookonce_keep k where k.event = hookonce_delivery.event and k.what = 'event')
