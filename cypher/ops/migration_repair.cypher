// @query   ops.migration_repair
// @since   0.1.0
// @mode    write
// @card    maybe
// @param   lock      STRING NOT NULL
// @param   owner     STRING NOT NULL
// @param   token     INTEGER NOT NULL
// @param   seq       INTEGER NOT NULL
// @param   id        STRING NOT NULL    as the file is called now
// @param   checksum  STRING NOT NULL
// @param   message   STRING             what a person accepted; null where only the hash before it changed
// @param   by        STRING NOT NULL
// @param   host      STRING NOT NULL
// @param   tool      STRING NOT NULL
// @param   log       STRING NOT NULL    id of the log line, made by the caller
// @return  id        STRING NOT NULL
// @locks   (:MkgMigrationLock), exclusive, before its owner and token are read
// @index   mkg_migration_lock_name, mkg_migration_seq, mkg_migration_log_id
MATCH (l:MkgMigrationLock {name: $lock})
SET l.touched_by = $owner
WITH l
WHERE l.owner = $owner AND l.token = $token
MATCH (m:MkgMigration {seq: $seq})
SET m.id = $id, m.checksum = $checksum
MERGE (g:MkgMigrationLog {id: $log})
  ON CREATE SET
    g.at = datetime.realtime(),
    g.operation = 'repair',
    g.migration = $id,
    g.message = $message,
    g.by = $by,
    g.host = $host,
    g.tool = $tool
RETURN m.id AS id
