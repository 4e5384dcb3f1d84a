-- What was decided about an event that is gone.
delete from hookonce_hold where event > ?1 and event <= ?2
  and not exists (select 1 from hookonce_keep k where k.event = hookonce_hold.event and k.what = 'event')
