-- What has no receipt of a group: sums of old ones, and counts of refused requests.
insert into hookonce.tally (at, counts) values ((select hookonce.now_us()), $1)
