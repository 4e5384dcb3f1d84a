-- Each statement sees what was committed before it: what was waited for is read by the next one.
begin isolation level read committed
