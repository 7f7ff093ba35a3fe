// @query   forget.revive
// @since   0.2.0
// @mode    write
// @card    one
// @param   keys        LIST<STRING NOT NULL> NOT NULL  value keys or ids
// @return  revived     INTEGER NOT NULL
// @locks   (:Learning), exclusive, by the write itself
// @index   learning_value_key, learning_id, learning_short_id
// @why     Said again, an archived value is a candidate again, before the gate decides of it.
UNWIND $keys AS key
MATCH (l:Learning)
WHERE (l.value_key = key OR l.id = key OR l.short_id = key) AND l.status = 'archived'
SET l.status = 'candidate', l.live = true, l.injectable = false, l.archived_at = null
RETURN count(l) AS revived
