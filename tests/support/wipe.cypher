MATCH (n)
WHERE NOT n:MkgMigration AND NOT n:MkgMigrationLock AND NOT n:MkgMigrationLog AND NOT n:MkgRepeatable AND NOT n:MkgTestStore
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS
