// @query   ops.lease_release
// @since   0.1.0
// @mode    write
// @card    one
// @param   key         STRING NOT NULL
// @param   owner       STRING NOT NULL
// @param   fence       INTEGER NOT NULL
// @return  released    BOOLEAN NOT NULL
// @locks   (:Lease), exclusive, before its owner is read
// @index   lease_key
// @why     Only the holder's own grant ends; the fence stays, so that it goes on growing.
MERGE (lease:Lease {key: $key})
SET lease.touched = $owner
WITH lease, coalesce(lease.owner = $owner AND lease.fence = $fence, false) AS held
FOREACH (_ IN
CASE
  WHEN held THEN [1]
  ELSE []
END |
  SET lease.owner = null, lease.expires_at = null, lease.last_run_at = datetime.realtime()
)
RETURN held AS released
