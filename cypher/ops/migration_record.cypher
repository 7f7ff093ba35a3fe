// @query   ops.migration_record
// @since   0.1.0
// @mode    write
// @card    maybe
// @param   lock         STRING NOT NULL
// @param   owner        STRING NOT NULL
// @param   token        INTEGER NOT NULL
// @param   id           STRING NOT NULL
// @param   seq          INTEGER NOT NULL
// @param   checksum     STRING NOT NULL
// @param   kind         STRING NOT NULL    schema or data
// @param   state        STRING NOT NULL    PENDING, APPLIED, SKIPPED or FAILED
// @param   message      STRING
// @param   duration_ms  INTEGER NOT NULL
// @param   by           STRING NOT NULL
// @param   tool         STRING NOT NULL
// @param   operation    STRING NOT NULL    what the log calls it: begin, baseline, apply, skip, mark or failed
// @param   host         STRING NOT NULL
// @param   log          STRING NOT NULL    id of the log line, made by the caller: a retry is harmless
// @return  id           STRING NOT NULL
// @return  seq          INTEGER NOT NULL
// @return  state        STRING NOT NULL
// @locks   (:MkgMigrationLock), exclusive, before its owner and token are read
// @index   mkg_migration_lock_name, mkg_migration_id, mkg_migration_seq, mkg_migration_log_id
// @why     Fencing: a runner that was paused past its lease finds another owner, gets no row and has written
//          nothing. A record that was interrupted or failed keeps its place in the chain.
MATCH (l:MkgMigrationLock {name: $lock})
SET l.touched_by = $owner
WITH l
WHERE l.owner = $owner AND l.token = $token
MERGE (m:MkgMigration {id: $id})
  ON CREATE SET m.seq = $seq
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
WITH m
OPTIONAL MATCH (before:MkgMigration {seq: m.seq - 1})
FOREACH (b IN
CASE
  WHEN before IS NULL THEN []
  ELSE [before]
END |
  MERGE (b)-[:NEXT]->(m)
)
RETURN m.id AS id, m.seq AS seq, m.state AS state
