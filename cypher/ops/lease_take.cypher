// @query   ops.lease_take
// @since   0.1.0
// @mode    write
// @card    one
// @param   key         STRING NOT NULL
// @param   owner       STRING NOT NULL    unique to this attempt
// @param   ttl_ms      INTEGER NOT NULL
// @return  acquired    BOOLEAN NOT NULL
// @return  fence       INTEGER NOT NULL   grows by one with every grant
// @locks   (:Lease), exclusive, before its owner and expiry are read
// @index   lease_key
// @why     The first SET makes callers queue; without it several find the same lease free. The clock
//          is the server's and is read after the wait. A grant from the
//          future is from a clock that went back: it then lasts one period more, not until that day.
MERGE (lease:Lease {key: $key})
  ON CREATE SET lease.fence = 0
SET lease.touched = $owner
SET
  lease.expires_at =
    CASE
      WHEN
        lease.expires_at > datetime.realtime() + duration({milliseconds: $ttl_ms}) AND
        lease.taken_at > datetime.realtime()
        THEN datetime.realtime() + duration({milliseconds: $ttl_ms})
      ELSE lease.expires_at
    END
WITH lease, lease.owner IS NULL OR lease.owner = $owner OR lease.expires_at <= datetime.realtime() AS free
FOREACH (_ IN
CASE
  WHEN free THEN [1]
  ELSE []
END |
  SET
    lease.owner = $owner,
    lease.fence = coalesce(lease.fence, 0) + 1,
    lease.taken_at = datetime.realtime(),
    lease.expires_at = datetime.realtime() + duration({milliseconds: $ttl_ms})
)
RETURN free AS acquired, coalesce(lease.fence, 0) AS fence
