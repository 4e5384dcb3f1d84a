-- Those of earlier stretches that go now.
select event from hookonce_keep where what = ?1 and due is null order by event
