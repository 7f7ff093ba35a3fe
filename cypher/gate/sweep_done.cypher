// @query   gate.sweep_done
// @since   0.2.0
// @mode    write
// @card    one
// @param   key         STRING NOT NULL
// @param   owner       STRING NOT NULL
// @param   ids         LIST<STRING NOT NULL> NOT NULL  what was looked at
// @param   at          STRING NOT NULL
// @return  released    BOOLEAN NOT NULL
// @locks   (:Lease), exclusive, before its holder is read
// @index   lease_key, learning_id
// @why     What was looked at goes to the end of the line, also where nothing came of it; a lease that
//          somebody else has taken meanwhile stays theirs.
MATCH (lease:Lease {key: $key})
SET lease.touched = $owner + $at
WITH lease, lease.owner = $owner AS mine
FOREACH (_ IN
CASE
  WHEN mine THEN [1]
  ELSE []
END |
  SET lease.expires_at = null
)
WITH mine
CALL () {
  UNWIND $ids AS id
  MATCH (l:Learning {id: id})
  SET l.consistency_checked_at = datetime($at)
  RETURN count(l) AS seen
}
RETURN mine AS released
