// @query   ops.migration_break
// @since   0.1.0
// @mode    write
// @card    maybe
// @param   lock   STRING NOT NULL
// @param   owner  STRING NOT NULL    the holder that the person was shown
// @param   token  INTEGER NOT NULL
// @param   by     STRING NOT NULL
// @param   host   STRING NOT NULL
// @param   tool   STRING NOT NULL
// @param   log    STRING NOT NULL    id of the log line, made by the caller
// @return  token  INTEGER NOT NULL
// @locks   (:MkgMigrationLock), exclusive, before its owner and token are read
// @index   mkg_migration_lock_name, mkg_migration_log_id
// @why     Breaks the lock of the holder that was shown and of nobody who came after. Without an owner no
//          later write of that holder finds its token.
MATCH (l:MkgMigrationLock {name: $lock})
SET l.touched_by = l.owner
WITH l
WHERE l.owner = $owner AND l.token = $token
SET l.owner = null, l.by = null, l.host = null, l.pid = null, l.taken_at = null, l.expires_at = null
MERGE (g:MkgMigrationLog {id: $log})
  ON CREATE SET
    g.at = datetime.realtime(),
    g.operation = 'break-lock',
    g.message = $owner,
    g.by = $by,
    g.host = $host,
    g.tool = $tool
RETURN l.token AS token
