// @query   timeline.search
// @since   0.1.0
// @mode    read
// @card    many
// @param   owner_key   STRING NOT NULL
// @param   terms       STRING NOT NULL   Lucene query with the owner's token, '' for none
// @param   vector      LIST<FLOAT>       null for text only
// @param   embedding_model  STRING NOT NULL
// @param   pool        INTEGER NOT NULL
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  type        STRING NOT NULL
// @return  title       STRING NOT NULL
// @return  narrative   STRING NOT NULL
// @return  user_id     STRING
// @return  ended_at    ZONED DATETIME NOT NULL
// @return  score       FLOAT NOT NULL
// @return  sources     LIST<STRING NOT NULL> NOT NULL
// @locks   none
// @index   project_observation_vector, project_observation_fulltext
// @uses    db.index.fulltext.queryNodes
// @why     Ranks are fused, never raw scores: cosine and BM25 have no common scale. The names of the
//          two branches differ because the server fails on a name that a filtered SEARCH reuses.
CALL () {
  MATCH (near:Episode)
    SEARCH near IN (
      VECTOR INDEX project_observation_vector
      FOR $vector
      WHERE near.owner_key = $owner_key AND near.live = true AND near.embedding_model = $embedding_model
      LIMIT $pool
    ) SCORE AS closeness
  WITH near, closeness
  ORDER BY closeness DESC, near.id
  WITH collect(near) AS nears
  UNWIND range(0, size(nears) - 1) AS i
  RETURN nears[i] AS hit, 1.0 / (60 + i + 1) AS part, 'vector' AS source
    UNION ALL
  UNWIND
    CASE
      WHEN $terms = '' THEN []
      ELSE [$terms]
    END AS lucene
  CALL db.index.fulltext.queryNodes('project_observation_fulltext', lucene, {limit: $pool}) YIELD node, score AS bm25
  WITH node AS worded, bm25
  WHERE worded.owner_key = $owner_key
  WITH worded, bm25
  ORDER BY bm25 DESC, worded.id
  WITH collect(worded) AS wordeds
  UNWIND range(0, size(wordeds) - 1) AS j
  RETURN wordeds[j] AS hit, 1.0 / (60 + j + 1) AS part, 'text' AS source
}
WITH hit, sum(part) AS score, collect(source) AS sources
ORDER BY score DESC, hit.id
LIMIT $limit
RETURN
  hit.id AS id,
  hit.type AS type,
  hit.title AS title,
  hit.narrative AS narrative,
  hit.user_id AS user_id,
  hit.ended_at AS ended_at,
  score,
  sources
