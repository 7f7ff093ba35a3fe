// @query   ops.migration_unmark
// @since   0.1.0
// @mode    write
// @card    maybe
// @param   lock   STRING NOT NULL
// @param   owner  STRING NOT NULL
// @param   token  INTEGER NOT NULL
// @param   id     STRING NOT NULL
// @param   seq    INTEGER NOT NULL   of the last record; the chain has no gaps
// @param   by     STRING NOT NULL
// @param   host   STRING NOT NULL
// @param   tool   STRING NOT NULL
// @param   log    STRING NOT NULL    id of the log line, made by the caller
// @return  id     STRING NOT NULL
// @locks   (:MkgMigrationLock), exclusive, before its owner and token are read
// @index   mkg_migration_lock_name, mkg_migration_id, mkg_migration_seq, mkg_migration_log_id
MATCH (l:MkgMigrationLock {name: $lock})
SET l.touched_by = $owner
WITH l
WHERE l.owner = $owner AND l.token = $token
MATCH (m:MkgMigration {id: $id})
WHERE m.seq = $seq AND m.seq > 0
OPTIONAL MATCH (after:MkgMigration {seq: $seq + 1})
WITH m, after
WHERE after IS NULL
DETACH DELETE m
MERGE (g:MkgMigrationLog {id: $log})
  ON CREATE SET
    g.at = datetime.realtime(),
    g.operation = 'unmark',
    g.migration = $id,
    g.by = $by,
    g.host = $host,
    g.tool = $tool
RETURN $id AS id
