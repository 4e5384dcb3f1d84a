-- Each start is an instance of its own: leases name it.
insert into hookonce.node (started, seen, version)
select now, now, $1 from (select hookonce.now_us() as now) clock returning instance
