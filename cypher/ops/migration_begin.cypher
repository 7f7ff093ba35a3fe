// @query   ops.migration_begin
// @since   0.1.0
// @mode    write
// @card    maybe
// @param   lock       STRING NOT NULL
// @param   owner      STRING NOT NULL
// @param   token      INTEGER NOT NULL
// @param   id         STRING NOT NULL
// @param   predicted  STRING            JSON: the counts foretold before the first write
// @return  id         STRING NOT NULL
// @locks   (:MkgMigrationLock), exclusive, before its owner and token are read
// @index   mkg_migration_lock_name, mkg_migration_id, mkg_repeatable_id
// @why     Forgets the progress of an earlier run; runs in the transaction that writes PENDING.
MATCH (l:MkgMigrationLock {name: $lock})
SET l.touched_by = $owner
WITH l
WHERE l.owner = $owner AND l.token = $token
MATCH (m:MkgMigration|MkgRepeatable)
WHERE m.id = $id
SET m.predicted = $predicted
REMOVE m.done, m.done_hash, m.watermark
RETURN m.id AS id
