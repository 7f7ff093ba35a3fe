// @migration B0000__baseline
// @tx        each
// @why       What the runner itself stands on, made before the first record exists. The unique seq keeps
//            the chain linear even when two runners get past the lock; the unique name makes the lock one node.
CREATE CONSTRAINT mkg_migration_lock_name IF NOT EXISTS
FOR (n:MkgMigrationLock) REQUIRE n.name IS UNIQUE;

CREATE CONSTRAINT mkg_migration_id IF NOT EXISTS
FOR (n:MkgMigration) REQUIRE n.id IS UNIQUE;

CREATE CONSTRAINT mkg_migration_seq IF NOT EXISTS
FOR (n:MkgMigration) REQUIRE n.seq IS UNIQUE;

CREATE CONSTRAINT mkg_repeatable_id IF NOT EXISTS
FOR (n:MkgRepeatable) REQUIRE n.id IS UNIQUE;

CREATE CONSTRAINT mkg_migration_log_id IF NOT EXISTS
FOR (n:MkgMigrationLog) REQUIRE n.id IS UNIQUE;
