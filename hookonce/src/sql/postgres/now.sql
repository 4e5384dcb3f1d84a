-- The clock of the store, for whoever asks it outside of a statement.
select hookonce.now_us()
