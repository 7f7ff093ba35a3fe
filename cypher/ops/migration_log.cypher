// @query   ops.migration_log
// @since   0.1.0
// @mode    write
// @card    none
// @param   log        STRING NOT NULL    made by the caller, so that a retry is harmless
// @param   operation  STRING NOT NULL
// @param   migration  STRING NOT NULL
// @param   message    STRING
// @param   by         STRING NOT NULL
// @param   host       STRING NOT NULL
// @param   tool       STRING NOT NULL
// @locks   none
// @index   mkg_migration_log_id
// @why     A data file that failed was rolled back with its record; the log alone remembers it.
MERGE (g:MkgMigrationLog {id: $log})
  ON CREATE SET
    g.at = datetime.realtime(),
    g.operation = $operation,
    g.migration = $migration,
    g.message = $message,
    g.by = $by,
    g.host = $host,
    g.tool = $tool
