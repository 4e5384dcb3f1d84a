-- Never a work row: the router asks the lane, and what was not needed does no harm.
insert into hookonce.lane_check (lane, behind) select lane, 0 from unnest($1::int8[]) as s (lane)
