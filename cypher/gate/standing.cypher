// @query   gate.standing
// @since   0.2.0
// @mode    read
// @card    many
// @param   id          STRING NOT NULL     full or short
// @return  id          STRING NOT NULL
// @return  short_id    STRING NOT NULL
// @return  text        STRING NOT NULL
// @return  status      STRING NOT NULL
// @return  owner_key   STRING NOT NULL
// @return  decision_count  INTEGER NOT NULL
// @locks   none
// @index   learning_id, learning_short_id
// @why     What a decision is about, as it stands; the count of decisions tells a later one apart.
MATCH (l:Learning)
WHERE l.id = $id OR l.short_id = $id
RETURN
  l.id AS id,
  l.short_id AS short_id,
  l.text AS text,
  l.status AS status,
  l.owner_key AS owner_key,
  l.decision_count AS decision_count
ORDER BY id ASC
