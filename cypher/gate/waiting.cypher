// @query   gate.waiting
// @since   0.1.0
// @mode    read
// @card    many
// @param   owner_key   STRING NOT NULL
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  short_id    STRING NOT NULL
// @return  text        STRING NOT NULL
// @return  status      STRING NOT NULL
// @return  origin      STRING NOT NULL
// @return  reason      STRING
// @return  created_at  ZONED DATETIME NOT NULL
// @locks   none
// @index   learning_status
// @why     What waits for a person, oldest first, with why it waits.
MATCH (l:Learning)
USING INDEX SEEK l:Learning(owner_key, status)
WHERE l.owner_key = $owner_key AND l.updated_at IS NOT NULL AND l.status IN ['candidate', 'quarantined']
WITH l
ORDER BY l.created_at ASC, l.id ASC
LIMIT $limit
RETURN
  l.id AS id,
  l.short_id AS short_id,
  l.text AS text,
  l.status AS status,
  l.origin AS origin,
  l.wait_reason AS reason,
  l.created_at AS created_at
