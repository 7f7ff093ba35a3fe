// @query   learnings.as_of
// @since   0.2.0
// @mode    read
// @card    many
// @param   owner_key   STRING NOT NULL
// @param   terms       STRING NOT NULL     Lucene query with the owner's token, '' for none
// @param   vector      LIST<FLOAT>         null for text only
// @param   embedding_model  STRING NOT NULL
// @param   at          STRING NOT NULL     the moment that is asked about
// @param   pool        INTEGER NOT NULL    taken from each index before anything is left out
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  short_id    STRING NOT NULL
// @return  text        STRING NOT NULL
// @return  status      STRING NOT NULL     as it is now
// @return  origin      STRING NOT NULL
// @return  since       ZONED DATETIME NOT NULL
// @return  until       ZONED DATETIME      null: it still holds
// @return  now         STRING              what took its place, if that is believed
// @return  score       FLOAT NOT NULL
// @return  said_later  MAP                 {short_id, text} of what the same person had said later by then, near it
// @locks   none
// @index   project_learning_vector, project_learning_fulltext
// @uses    db.index.fulltext.queryNodes
// @allow   Layout  the formatter's needs more lines than a body may have
// @why     What held then: found by what holds now and by its own words (what was replaced has no
//          vector), then along the chain of replacements to the version of that moment. What was
//          never approved, or that a person turned down as wrong, held at no moment.
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
  RETURN n.hit AS hit,
    CASE WHEN n.cosine > 0 THEN (n.cosine / nearest) ^ 2 ELSE 0.0 END AS part
    UNION ALL
  UNWIND
    CASE
      WHEN $terms = '' THEN []
      ELSE [$terms]
    END AS lucene
  CALL db.index.fulltext.queryNodes('project_learning_fulltext', lucene, {limit: $pool}) YIELD node, score AS bm25
  WITH node AS worded, bm25
  WHERE worded.owner_key = $owner_key
  WITH collect({hit: worded, bm25: bm25}) AS wordeds, max(bm25) AS best
  UNWIND wordeds AS w
  RETURN w.hit AS hit, (w.bm25 / best) ^ 1.5 AS part
}
WITH hit, sum(part) AS score
CALL (hit) {
  MATCH (hit)-[:SUPERSEDES]->{0,20}(version:Learning)
  RETURN version
    UNION
  MATCH (hit)<-[:SUPERSEDES]-{0,20}(version:Learning)
  RETURN version
}
WITH version, max(score) AS score, coalesce(version.valid_from, version.created_at) AS since
WHERE
  since <= datetime($at) AND
  (version.valid_until IS NULL OR version.valid_until > datetime($at)) AND
  version.safety_status = 'passed' AND
  (version.status = 'approved' OR
    version.rejected_reason STARTS WITH 'superseded_by:' OR
    version.rejected_reason STARTS WITH 'human_superseded_by:')
ORDER BY score DESC, version.id
LIMIT $limit
RETURN
  version.id AS id, version.short_id AS short_id, version.text AS text,
  version.status AS status, version.origin AS origin,
  since,
  version.valid_until AS until,
  head([(later:Learning)-[:SUPERSEDES]->(version) WHERE later.injectable | later.text ]) AS now,
  score,
  CASE WHEN version.reviewed_by IS NULL AND COUNT { (version)-[:SIMILAR_TO]-() } > 0 THEN head(COLLECT {
    MATCH (version)-[s:SIMILAR_TO]-(beside:Learning)<-[:SUPERSEDES]-{0,8}(o:Learning)
    WHERE version.value_key IN s.value_keys AND beside.value_key IN s.value_keys AND o.safety_status = 'passed'
      AND since < o.valid_from AND o.valid_from <= datetime($at) AND coalesce(o.valid_until > datetime($at), o.status = 'approved')
    RETURN {short_id: o.short_id, text: o.text} ORDER BY o.valid_from DESC, o.id LIMIT 1
  }) END AS said_later
