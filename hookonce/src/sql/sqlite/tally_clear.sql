-- In the commit that writes their sum.
delete from hookonce_tally
