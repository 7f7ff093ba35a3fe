// @query   gate.oldest
// @since   0.2.0
// @mode    read
// @card    many
// @param   owner_keys  LIST<STRING NOT NULL> NOT NULL
// @param   limit       INTEGER NOT NULL
// @param   before      STRING NOT NULL     looked at later than this: not again so soon
// @return  id          STRING NOT NULL
// @return  owner_key   STRING NOT NULL
// @return  value_key   STRING NOT NULL
// @return  words_key   STRING
// @return  frame_key   STRING
// @return  text        STRING NOT NULL
// @return  origin      STRING NOT NULL
// @return  user_id     STRING
// @return  explicit    BOOLEAN NOT NULL
// @return  embedding   LIST<FLOAT>
// @return  embedding_model  STRING
// @return  since       ZONED DATETIME NOT NULL
// @return  created_at  ZONED DATETIME NOT NULL
// @return  said_no     INTEGER NOT NULL    its place among what was stored with it
// @locks   none
// @index   learning_status
// @why     What waits without a person having seen it, of both scopes, oldest first; who was looked at
//          lately lets the others come first. Those taken come in the order of all statements.
UNWIND $owner_keys AS owner
MATCH (l:Learning)
USING INDEX SEEK l:Learning(owner_key, status)
WHERE
  l.owner_key = owner AND
  l.status IN ['candidate', 'quarantined'] AND
  l.reviewed_by IS NULL AND
  l.valid_until IS NULL AND
  coalesce(l.consistency_checked_at < datetime($before), true)
WITH l
ORDER BY coalesce(l.consistency_checked_at, l.created_at) ASC, l.created_at ASC, coalesce(l.said_no, 0) ASC, l.id ASC
LIMIT $limit
RETURN
  l.id AS id,
  l.owner_key AS owner_key,
  l.value_key AS value_key,
  l.words_key AS words_key,
  l.frame_key AS frame_key,
  l.text AS text,
  l.origin AS origin,
  l.user_id AS user_id,
  EXISTS { (l)-[:EVIDENCED_BY {explicit: true}]->(:SessionEvent) } AS explicit,
  l.embedding AS embedding,
  l.embedding_model AS embedding_model,
  coalesce(l.last_confirmed_at, l.valid_from, l.created_at) AS since,
  l.created_at AS created_at,
  coalesce(l.said_no, 0) AS said_no
ORDER BY since ASC, created_at ASC, said_no ASC, id ASC
