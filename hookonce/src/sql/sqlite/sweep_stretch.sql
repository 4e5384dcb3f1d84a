-- The end of the stretch: a bounded walk over the primary key.
select max(seq), count(*) from (select seq from hookonce_delivery where seq > ?1 order by seq limit ?2)
