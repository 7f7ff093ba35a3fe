// @query   gate.reproposed
// @since   0.2.0
// @mode    read
// @card    many
// @param   owner_keys  LIST<STRING NOT NULL> NOT NULL
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  text        STRING NOT NULL
// @return  status      STRING NOT NULL
// @return  reason      STRING
// @return  times       INTEGER NOT NULL
// @return  last_at     ZONED DATETIME
// @locks   none
// @index   learning_status
// @why     Refused values that came again: none was revived, and a person sees how often they came.
UNWIND $owner_keys AS owner
MATCH (l:Learning)
WHERE l.owner_key = owner AND l.status IN ['rejected', 'blocked'] AND l.reproposed_count > 0
WITH l
ORDER BY l.last_reproposed_at DESC, l.id ASC
LIMIT $limit
RETURN
  l.id AS id,
  l.text AS text,
  l.status AS status,
  l.rejected_reason AS reason,
  l.reproposed_count AS times,
  l.last_reproposed_at AS last_at
