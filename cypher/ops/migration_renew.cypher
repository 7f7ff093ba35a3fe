// @query   ops.migration_renew
// @since   0.1.0
// @mode    write
// @card    maybe
// @param   lock        STRING NOT NULL
// @param   owner       STRING NOT NULL
// @param   token       INTEGER NOT NULL
// @param   ttl_ms      INTEGER NOT NULL
// @return  expires_at  STRING NOT NULL
// @locks   (:MkgMigrationLock), exclusive, before its owner and token are read
// @index   mkg_migration_lock_name
// @why     A holder whose lease ran out but whom nobody replaced may go on: the token has not moved.
MATCH (l:MkgMigrationLock {name: $lock})
SET l.touched_by = $owner
WITH l
WHERE l.owner = $owner AND l.token = $token
SET l.expires_at = datetime.realtime() + duration({milliseconds: $ttl_ms})
RETURN toString(l.expires_at) AS expires_at
