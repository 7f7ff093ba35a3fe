// @query   learnings.recall
// @since   0.1.0
// @mode    read
// @card    many
// @param   owner_key   STRING NOT NULL
// @param   terms       STRING NOT NULL     Lucene query with the owner's token, '' for none
// @param   vector      LIST<FLOAT>         null for text only
// @param   embedding_model  STRING NOT NULL
// @param   session_id  STRING              who asks; null for no session
// @param   excluded    LIST<STRING NOT NULL> NOT NULL  told moments ago, not yet written
// @param   pool        INTEGER NOT NULL    taken from each index before anything is left out
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
// @return  score       FLOAT NOT NULL      of 2 at most: each side's part of its best hit
// @return  cosine      FLOAT               null when the vector side did not find it
// @return  sources     LIST<STRING NOT NULL> NOT NULL
// @return  was         MAP                 {text, age_seconds} of what it replaced, if that may be told
// @return  said_later  MAP                 {id, short_id, text, age_seconds} of what the same person said later and near it; no text where this session knows it
// @locks   none
// @index   project_learning_vector, project_learning_fulltext, session_id
// @uses    db.index.fulltext.queryNodes
// @allow   CartesianProduct  the left side is one row
// @allow   Layout  the formatter's needs more lines than a body may have
// @why     One statement for the prompt. What this session was told in this epoch, or said itself,
//          is left out after the indexes answered, hence the over-fetch; it is looked up from the
//          session's side, whose degree stays small. Each side counts by its part of its best hit: on
//          labelled facts that found more than ranks alone. Names differ between the branches because
//          the server fails on a name that a filtered SEARCH reuses. Few hits replaced another: the
//          count of their edges is looked at first, which costs nothing.
OPTIONAL MATCH (asking:Session {session_id: $session_id})
WITH
  $excluded +
  COLLECT {
    MATCH (told:Learning)-[i:INJECTED_IN|FROM_SESSION]->(asking)
    WHERE i.epoch = asking.epoch
    RETURN told.id
  } AS known
CALL () {
  MATCH (near:Learning)
    SEARCH near IN (
      VECTOR INDEX project_learning_vector
      FOR $vector
      WHERE near.owner_key = $owner_key AND near.injectable = true AND near.embedding_model = $embedding_model
      LIMIT $pool
    ) SCORE AS closeness
  WITH near, 2.0 * closeness - 1.0 AS cosine
  WITH collect({hit: near, cosine: cosine}) AS nears, max(cosine) AS nearest
  UNWIND nears AS n
  RETURN
    n.hit AS hit,
    n.cosine AS cosine,
    CASE
      WHEN n.cosine > 0 THEN (n.cosine / nearest) ^ 2
      ELSE 0.0
    END AS part,
    'vector' AS source
    UNION ALL
  UNWIND CASE WHEN $terms = '' THEN [] ELSE [$terms] END AS lucene
  CALL db.index.fulltext.queryNodes('project_learning_fulltext', lucene, {limit: $pool}) YIELD node, score AS bm25
  WITH node AS worded, bm25
  WHERE worded.owner_key = $owner_key AND worded.injectable = true
  WITH collect({hit: worded, bm25: bm25}) AS wordeds, max(bm25) AS best
  UNWIND wordeds AS w
  RETURN w.hit AS hit, null AS cosine, (w.bm25 / best) ^ 1.5 AS part, 'text' AS source
}
WITH known, hit, part, cosine, source
WHERE NOT hit.id IN known
WITH hit, sum(part) AS score, max(cosine) AS cosine, collect(source) AS sources
ORDER BY score DESC, hit.id
LIMIT $limit
RETURN
  hit.id AS id, hit.short_id AS short_id, hit.text AS text,
  hit.status AS status, hit.scope AS scope, hit.origin AS origin,
  hit.confidence AS confidence,
  hit.task_pattern AS task_pattern,
  hit.kind AS kind,
  hit.tool_key AS tool_key,
  hit.error_signature AS error_signature, hit.resolved AS resolved,
  duration.inSeconds(hit.created_at, datetime()).seconds AS age_seconds,
  hit.last_source_session_id AS session_id,
  score, cosine, sources,
  CASE WHEN COUNT { (hit)-[:SUPERSEDES]->() } > 0 THEN head([(hit)-[:SUPERSEDES]->(old:Learning) WHERE old.origin = 'user_typed' AND old.safety_status = 'passed' AND
    (old.status = 'approved' OR old.rejected_reason STARTS WITH 'superseded_by:') | {text: old.text, age_seconds: duration.inSeconds(old.valid_until, datetime()).seconds}]) END AS was,
  CASE WHEN hit.reviewed_by IS NULL AND COUNT { (hit)-[:SIMILAR_TO]-() } > 0 THEN head(COLLECT {
    MATCH (hit)-[s:SIMILAR_TO]-(beside:Learning)<-[:SUPERSEDES]-{0,8}(o:Learning)
    WHERE o.injectable = true AND hit.value_key IN s.value_keys AND beside.value_key IN s.value_keys
    WITH o, coalesce(o.last_confirmed_at, o.valid_from) AS said WHERE said > coalesce(hit.last_confirmed_at, hit.valid_from)
    RETURN {id: o.id, short_id: o.short_id, text: CASE WHEN NOT (o.id IN $excluded OR EXISTS { (o)-[i:INJECTED_IN|FROM_SESSION]->(a:Session {session_id: $session_id}) WHERE i.epoch = a.epoch }) THEN o.text END, age_seconds: duration.inSeconds(said, datetime()).seconds} ORDER BY said DESC, o.id LIMIT 1
  }) END AS said_later
