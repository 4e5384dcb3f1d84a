-- One state of the tables for all statements of a page, and no way to write.
begin isolation level repeatable read read only
