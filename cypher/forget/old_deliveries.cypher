// @query   forget.old_deliveries
// @since   0.2.0
// @mode    write
// @card    one
// @param   before      ZONED DATETIME NOT NULL
// @param   limit       INTEGER NOT NULL
// @return  dropped     INTEGER NOT NULL
// @locks   none
// @index   injected_last
// @why     What was told to whom is dropped after its time; how often a learning was told stays counted.
MATCH (:Learning)-[i:INJECTED_IN]->(:Session)
WHERE i.last_injected_at < $before
WITH i
LIMIT $limit
DELETE i
RETURN count(i) AS dropped
