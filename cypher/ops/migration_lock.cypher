// @query   ops.migration_lock
// @since   0.1.0
// @mode    write
// @card    one
// @param   lock        STRING NOT NULL
// @param   owner       STRING NOT NULL    unique to this attempt to hold the lock
// @param   by          STRING NOT NULL
// @param   host        STRING NOT NULL
// @param   pid         INTEGER NOT NULL
// @param   ttl_ms      INTEGER NOT NULL
// @return  acquired    BOOLEAN NOT NULL
// @return  owner       STRING NOT NULL    the holder: the caller, or who keeps it out
// @return  token       INTEGER NOT NULL   grows by one with every grant
// @return  by          STRING
// @return  host        STRING
// @return  pid         INTEGER
// @return  taken_at    STRING
// @return  expires_at  STRING
// @locks   (:MkgMigrationLock), exclusive, before its owner and expiry are read
// @index   mkg_migration_lock_name
// @why     The first SET makes callers queue; without it several read a free lock at once. The clock is
//          the server's and is read after the wait: datetime() would be the time of queueing up.
MERGE (l:MkgMigrationLock {name: $lock})
  ON CREATE SET l.token = 0
SET l.touched_by = $owner
WITH l, l.owner IS NULL OR l.owner = $owner OR l.expires_at <= datetime.realtime() AS free
FOREACH (_ IN
CASE
  WHEN free THEN [1]
  ELSE []
END |
  SET
    l.owner = $owner,
    l.token = l.token + 1,
    l.by = $by,
    l.host = $host,
    l.pid = $pid,
    l.taken_at = datetime.realtime(),
    l.expires_at = datetime.realtime() + duration({milliseconds: $ttl_ms})
)
RETURN
  free AS acquired,
  l.owner AS owner,
  l.token AS token,
  l.by AS by,
  l.host AS host,
  l.pid AS pid,
  toString(l.taken_at) AS taken_at,
  toString(l.expires_at) AS expires_at
