// @query   ops.migration_holder
// @since   0.1.0
// @mode    read
// @card    maybe
// @param   lock        STRING NOT NULL
// @return  owner       STRING NOT NULL
// @return  token       INTEGER NOT NULL
// @return  by          STRING
// @return  host        STRING
// @return  pid         INTEGER
// @return  taken_at    STRING
// @return  expires_at  STRING
// @return  expired     BOOLEAN NOT NULL   by the server's clock: the next runner will take it
// @locks   none
// @index   mkg_migration_lock_name
MATCH (l:MkgMigrationLock {name: $lock})
WHERE l.owner IS NOT NULL
RETURN
  l.owner AS owner,
  l.token AS token,
  l.by AS by,
  l.host AS host,
  l.pid AS pid,
  toString(l.taken_at) AS taken_at,
  toString(l.expires_at) AS expires_at,
  l.expires_at <= datetime.realtime() AS expired
