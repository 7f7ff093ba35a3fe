// @query   learnings.search
// @since   0.1.0
// @mode    read
// @card    many
// @param   owner_key   STRING NOT NULL
// @param   terms       STRING NOT NULL     Lucene query with the owner's token, '' for none
// @param   vector      LIST<FLOAT>         null for text only
// @param   embedding_model  STRING NOT NULL
// @param   statuses    LIST<STRING NOT NULL> NOT NULL
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
// @return  score       FLOAT NOT NULL      of 2 at most: each side's part of its best hit, plus the status bonus
// @return  cosine      FLOAT               null when the vector side did not find it
// @return  sources     LIST<STRING NOT NULL> NOT NULL
// @return  was         MAP                 {text, age_seconds} of what it replaced, if that may be told
// @return  said_later  MAP                 {id, short_id, text, age_seconds} of what the same person said later and near it
// @locks   none
// @index   project_learning_vector, project_learning_fulltext
// @uses    db.index.fulltext.queryNodes
// @allow   Layout  the formatter's needs more lines than a body may have
// @why     The agent's own pull: candidates too, marked by their status. Each side counts by
//          its part of its best hit, as measured on labelled facts; being approved adds a little.
CALL () {
  MATCH (near:Learning)
    SEARCH near IN (
      VECTOR INDEX project_learning_vector
      FOR $vector
      WHERE near.owner_key = $owner_key AND near.live = true AND near.embedding_model = $embedding_model
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
  WHERE worded.owner_key = $owner_key AND worded.live = true
  WITH collect({hit: worded, bm25: bm25}) AS wordeds, max(bm25) AS best
  UNWIND wordeds AS w
  RETURN w.hit AS hit, null AS cosine, (w.bm25 / best) ^ 1.5 AS part, 'text' AS source
}
WITH hit, part, cosine, source
WHERE hit.status IN $statuses AND hit.consolidated = false AND hit.valid_until IS NULL
WITH
  hit,
  sum(part) +
  CASE hit.status
    WHEN 'approved' THEN 0.03
    ELSE 0.0
  END AS score,
  max(cosine) AS cosine,
  collect(source) AS sources
ORDER BY score DESC, hit.confidence DESC, hit.id
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
  head([(hit)-[:SUPERSEDES]->(old:Learning) WHERE old.origin = 'user_typed' AND old.safety_status = 'passed' AND
    (old.status = 'approved' OR old.rejected_reason STARTS WITH 'superseded_by:') | {text: old.text, age_seconds: duration.inSeconds(old.valid_until, datetime()).seconds}]) AS was,
  CASE WHEN hit.reviewed_by IS NULL AND COUNT { (hit)-[:SIMILAR_TO]-() } > 0 THEN head(COLLECT {
    MATCH (hit)-[s:SIMILAR_TO]-(beside:Learning)<-[:SUPERSEDES]-{0,8}(o:Learning)
    WHERE o.injectable = true AND hit.value_key IN s.value_keys AND beside.value_key IN s.value_keys
    WITH o, coalesce(o.last_confirmed_at, o.valid_from) AS said WHERE said > coalesce(hit.last_confirmed_at, hit.valid_from)
    RETURN {id: o.id, short_id: o.short_id, text: o.text, age_seconds: duration.inSeconds(said, datetime()).seconds} ORDER BY said DESC, o.id LIMIT 1
  }) END AS said_later
