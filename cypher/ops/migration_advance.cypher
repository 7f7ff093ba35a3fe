// @query   ops.migration_advance
// @since   0.1.0
// @mode    write
// @card    maybe
// @param   lock       STRING NOT NULL
// @param   owner      STRING NOT NULL
// @param   token      INTEGER NOT NULL
// @param   id         STRING NOT NULL
// @param   done       INTEGER NOT NULL
// @param   done_hash  STRING NOT NULL
// @param   watermark  STRING             JSON; null when no batch is under way
// @return  done       INTEGER NOT NULL
// @locks   (:MkgMigrationLock), exclusive, before its owner and token are read
// @index   mkg_migration_lock_name, mkg_migration_id, mkg_repeatable_id
// @why     Runs in the transaction of the statement it counts, so that a killed runner is resumed exactly
//          where it was; without a row that transaction is rolled back: the lock is another's.
MATCH (l:MkgMigrationLock {name: $lock})
SET l.touched_by = $owner
WITH l
WHERE l.owner = $owner AND l.token = $token
MATCH (m:MkgMigration|MkgRepeatable)
WHERE m.id = $id
SET m.done = $done, m.done_hash = $done_hash, m.watermark = $watermark
RETURN m.done AS done
