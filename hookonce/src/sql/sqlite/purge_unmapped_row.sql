-- Its request row has the same number.
delete from hookonce_unmapped where id = ?1
