// @query   ops.migration_ready
// @since   0.1.0
// @mode    read
// @card    one
// @return  ready  BOOLEAN NOT NULL
// @locks   none
// @why     The lock is only a lock under its constraint: the runner asks the schema, not a record of it.
SHOW CONSTRAINTS
YIELD name
WHERE
  name IN [
    'mkg_migration_lock_name',
    'mkg_migration_id',
    'mkg_migration_seq',
    'mkg_repeatable_id',
    'mkg_migration_log_id'
  ]
RETURN count(*) = 5 AS ready
