-- A settle may be at work on these tails and look before it can see what was appended: the lanes are asked again.
insert into hookonce.lane_check (lane, behind) select lane, behind from unnest($1::int8[], $2::int8[]) as n (lane, behind)
