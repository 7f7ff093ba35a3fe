// @query   gate.sweep_turn
// @since   0.2.0
// @mode    write
// @card    one
// @param   key         STRING NOT NULL
// @param   owner       STRING NOT NULL     who asks
// @param   at          STRING NOT NULL
// @param   expires_at  STRING NOT NULL
// @param   rested      STRING NOT NULL     a turn that began later than this is too near
// @return  taken       BOOLEAN NOT NULL
// @locks   (:Lease), exclusive, before its holder is read
// @index   lease_key
// @why     One sweep of a project at a time, and none too soon after another: compared and set in one
//          statement, so two workers cannot both begin. A holder that died is passed over in time.
//          Times that lie ahead are from a clock that went back: the wait begins anew, once.
MERGE (lease:Lease {key: $key})
SET lease.touched = $owner + $at
SET
  lease.expires_at =
    CASE
      WHEN lease.expires_at > datetime($expires_at) THEN datetime($expires_at)
      ELSE lease.expires_at
    END,
  lease.last_run_at =
    CASE
      WHEN lease.last_run_at > datetime($at) THEN datetime($at)
      ELSE lease.last_run_at
    END
WITH
  lease,
  coalesce(lease.expires_at <= datetime($at), true) AND coalesce(lease.last_run_at <= datetime($rested), true) AS taken
FOREACH (_ IN
CASE
  WHEN taken THEN [1]
  ELSE []
END |
  SET
    lease.owner = $owner,
    lease.fence = coalesce(lease.fence, 0) + 1,
    lease.taken_at = datetime($at),
    lease.last_run_at = datetime($at),
    lease.expires_at = datetime($expires_at)
)
RETURN taken
