-- Each start is an instance of its own: leases name it.
insert into hookonce_node (instance, started, seen, version)
select coalesce(max(instance), 0) + 1, ?1, ?1, ?2 from hookonce_node returning instance
