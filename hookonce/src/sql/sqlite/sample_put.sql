-- Numbers of samples stand above those of requests, so that one number names one or the other.
insert into hookonce_sample (id, source, target, headers, body, reason, received)
select max(coalesce(max(id), ?1), ?1) + 1, ?2, ?3, ?4, ?5, ?6, ?7 from hookonce_sample
