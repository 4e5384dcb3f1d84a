-- The instant of the group, and the receipt by which its commit is found again if the answer is lost: drawn before it.
select hookonce.now_us(), nextval('hookonce.tally_id_seq')
