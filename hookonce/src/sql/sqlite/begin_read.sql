-- On a connection that only reads: the snapshot is taken by the first read in it.
begin
