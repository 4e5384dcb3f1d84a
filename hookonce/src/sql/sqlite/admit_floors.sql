-- Whether any namespace has a floor: until one has, a new key is not asked for it.
select exists (select 1 from hookonce_namespace where floor is not null)
