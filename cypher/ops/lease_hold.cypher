// @query   ops.lease_hold
// @since   0.1.0
// @mode    write
// @card    one
// @param   key         STRING NOT NULL
// @param   owner       STRING NOT NULL
// @param   fence       INTEGER NOT NULL
// @param   ttl_ms      INTEGER NOT NULL
// @return  held        BOOLEAN NOT NULL
// @locks   (:Lease), exclusive, before its owner is read; until the caller's transaction ends
// @index   lease_key
// @why     A holder asks before it commits: one that was taken for dead must not write beside its
//          successor. Who still holds it has it for as long again.
MERGE (lease:Lease {key: $key})
SET lease.touched = $owner
WITH lease, coalesce(lease.owner = $owner AND lease.fence = $fence, false) AS held
FOREACH (_ IN
CASE
  WHEN held THEN [1]
  ELSE []
END |
  SET lease.expires_at = datetime.realtime() + duration({milliseconds: $ttl_ms})
)
RETURN held
