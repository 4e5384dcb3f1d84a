-- Those whose turn it is once more.
select event from hookonce_keep where what = ?1 and due <= ?2 order by due, event limit ?3
