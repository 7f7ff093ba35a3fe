// @query   learnings.recent
// @since   0.1.0
// @mode    read
// @card    many
// @param   owner_key   STRING NOT NULL
// @param   statuses    LIST<STRING NOT NULL> NOT NULL
// @param   injectable_only  BOOLEAN NOT NULL
// @param   session_id  STRING          who asks; null for no session
// @param   excluded    LIST<STRING NOT NULL> NOT NULL
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  short_id    STRING NOT NULL
// @return  text        STRING NOT NULL
// @return  status      STRING NOT NULL
// @return  scope       STRING NOT NULL
// @return  origin      STRING NOT NULL
// @return  confidence  FLOAT NOT NULL
// @return  task_pattern  STRING
// @return  kind        STRING NOT NULL
// @return  tool_key    STRING
// @return  error_signature  STRING
// @return  resolved    BOOLEAN
// @return  age_seconds  INTEGER NOT NULL
// @return  session_id  STRING
// @return  said_later  MAP                 {id, short_id, text, age_seconds} of what the same person said later and near it; no text where this session knows it
// @locks   none
// @index   learning_owner, session_id
// @allow   Layout  one value a line would pass the limit of a body
// @why     Where there is nothing to compare with (a session's start, an empty query): approved
//          before candidate, then the newest.
OPTIONAL MATCH (asking:Session {session_id: $session_id})
WITH
  $excluded +
  COLLECT {
    MATCH (told:Learning)-[i:INJECTED_IN|FROM_SESSION]->(asking)
    WHERE i.epoch = asking.epoch
    RETURN told.id
  } AS known
MATCH (l:Learning)
USING INDEX SEEK l:Learning(owner_key, updated_at)
WHERE
  l.owner_key = $owner_key AND
  l.updated_at IS NOT NULL AND
  l.status IN $statuses AND
  l.consolidated = false AND
  l.valid_until IS NULL AND
  (NOT $injectable_only OR l.injectable = true) AND
  NOT l.id IN known
WITH l
ORDER BY l.status ASC, coalesce(l.last_used_at, l.updated_at) DESC, l.id ASC
LIMIT $limit
RETURN
  l.id AS id,
  l.short_id AS short_id,
  l.text AS text,
  l.status AS status,
  l.scope AS scope,
  l.origin AS origin,
  l.confidence AS confidence,
  l.task_pattern AS task_pattern,
  l.kind AS kind,
  l.tool_key AS tool_key,
  l.error_signature AS error_signature,
  l.resolved AS resolved,
  duration.inSeconds(l.created_at, datetime()).seconds AS age_seconds,
  l.last_source_session_id AS session_id,
  CASE WHEN l.reviewed_by IS NULL AND COUNT { (l)-[:SIMILAR_TO]-() } > 0 THEN head(COLLECT {
    MATCH (l)-[s:SIMILAR_TO]-(beside:Learning)<-[:SUPERSEDES]-{0,8}(o:Learning)
    WHERE o.injectable = true AND l.value_key IN s.value_keys AND beside.value_key IN s.value_keys
    WITH o, coalesce(o.last_confirmed_at, o.valid_from) AS said WHERE said > coalesce(l.last_confirmed_at, l.valid_from)
    RETURN {id: o.id, short_id: o.short_id, text: CASE WHEN NOT (o.id IN $excluded OR EXISTS { (o)-[i:INJECTED_IN|FROM_SESSION]->(a:Session {session_id: $session_id}) WHERE i.epoch = a.epoch }) THEN o.text END, age_seconds: duration.inSeconds(said, datetime()).seconds} ORDER BY said DESC, o.id LIMIT 1
  }) END AS said_later
