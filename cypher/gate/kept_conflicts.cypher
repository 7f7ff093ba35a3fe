// @query   gate.kept_conflicts
// @since   0.2.0
// @mode    read
// @card    many
// @param   owner_keys  LIST<STRING NOT NULL> NOT NULL
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  scope       STRING NOT NULL
// @return  user_id     STRING
// @return  text        STRING NOT NULL
// @return  decided_at  ZONED DATETIME
// @return  conflicts   LIST<MAP NOT NULL> NOT NULL  {id, text, status, judge_reason}
// @locks   none
// @index   learning_status
// @why     Approved although something contrary is approved too: both are told until a person chooses.
UNWIND $owner_keys AS owner
MATCH (l:Learning)
WHERE l.owner_key = owner AND l.status = 'approved' AND EXISTS { (l)-[:CONTRADICTS]->(:Learning) }
WITH l
ORDER BY l.updated_at DESC, l.id ASC
LIMIT $limit
RETURN
  l.id AS id,
  l.scope AS scope,
  l.user_id AS user_id,
  l.text AS text,
  coalesce(l.consistency_checked_at, l.safety_checked_at) AS decided_at,
  COLLECT {
    MATCH (l)-[c:CONTRADICTS]->(o:Learning)
    WITH c, o
    ORDER
    BY
    o.id
    LIMIT
    5
    RETURN {id: o.id, text: o.text, status: o.status, judge_reason: c.reason}
  } AS conflicts
