// @query   ops.migration_repeat
// @since   0.1.0
// @mode    write
// @card    maybe
// @param   lock         STRING NOT NULL
// @param   owner        STRING NOT NULL
// @param   token        INTEGER NOT NULL
// @param   id           STRING NOT NULL
// @param   checksum     STRING NOT NULL
// @param   kind         STRING NOT NULL    schema or data
// @param   state        STRING NOT NULL    PENDING, APPLIED, SKIPPED or FAILED
// @param   message      STRING
// @param   duration_ms  INTEGER NOT NULL
// @param   by           STRING NOT NULL
// @param   tool         STRING NOT NULL
// @param   operation    STRING NOT NULL    what the log calls it: begin, apply, skip, mark or failed
// @param   host         STRING NOT NULL
// @param   log          STRING NOT NULL    id of the log line, made by the caller: a retry is harmless
// @return  id           STRING NOT NULL
// @return  state        STRING NOT NULL
// @locks   (:MkgMigrationLock), exclusive, before its owner and token are read
// @index   mkg_migration_lock_name, mkg_repeatable_id, mkg_migration_log_id
// @why     A repeatable file runs again whenever its text changes, so it has one record and no place in
//          the chain.
MATCH (l:MkgMigrationLock {name: $lock})
SET l.touched_by = $owner
WITH l
WHERE l.owner = $owner AND l.token = $token
MERGE (m:MkgRepeatable {id: $id})
SET
  m.checksum = $checksum,
  m.kind = $kind,
  m.state = $state,
  m.message = $message,
  m.duration_ms = $duration_ms,
  m.applied_at = datetime.realtime(),
  m.applied_by = $by,
  m.tool = $tool
MERGE (g:MkgMigrationLog {id: $log})
  ON CREATE SET
    g.at = datetime.realtime(),
    g.operation = $operation,
    g.migration = $id,
    g.message = $message,
    g.by = $by,
    g.host = $host,
    g.tool = $tool
RETURN m.id AS id, m.state AS state
