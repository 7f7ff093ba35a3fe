// @query   ops.migration_release
// @since   0.1.0
// @mode    write
// @card    maybe
// @param   lock   STRING NOT NULL
// @param   owner  STRING NOT NULL
// @param   token  INTEGER NOT NULL
// @return  token  INTEGER NOT NULL
// @locks   (:MkgMigrationLock), exclusive, before its owner and token are read
// @index   mkg_migration_lock_name
// @why     The token stays: a later holder must get a higher one. A former holder releases nothing.
MATCH (l:MkgMigrationLock {name: $lock})
SET l.touched_by = $owner
WITH l
WHERE l.owner = $owner AND l.token = $token
SET l.owner = null, l.by = null, l.host = null, l.pid = null, l.taken_at = null, l.expires_at = null
RETURN l.token AS token
