// @query   learnings.shortlist
// @since   0.1.0
// @mode    read
// @card    many
// @param   pieces      LIST<MAP NOT NULL> NOT NULL  each {owner_key, vector, terms}: a part of what was said
// @param   embedding_model  STRING NOT NULL
// @param   limit       INTEGER NOT NULL    of each owner, and as many refused ones
// @return  id          STRING NOT NULL
// @return  owner_key   STRING NOT NULL
// @return  text        STRING NOT NULL
// @return  status      STRING NOT NULL
// @return  origin      STRING NOT NULL
// @return  refused     BOOLEAN NOT NULL
// @locks   none
// @index   project_learning_vector, project_learning_fulltext
// @uses    db.index.fulltext.queryNodes
// @why     What a window speaks of is asked for part by part: one vector for all of it would be near
//          nothing. Consolidated ones count as known. Refused ones have no vector: words find them.
UNWIND $pieces AS piece
CALL (piece) {
  MATCH (near:Learning)
    SEARCH near IN (
      VECTOR INDEX project_learning_vector
      FOR piece.vector
      WHERE near.owner_key = piece.owner_key AND near.live = true AND near.embedding_model = $embedding_model
      LIMIT $limit
    ) SCORE AS closeness
  WITH near, closeness
  WHERE near.status IN ['approved', 'candidate']
  RETURN near AS hit, closeness AS part
    UNION ALL
  UNWIND
    CASE
      WHEN piece.terms = '' THEN []
      ELSE [piece.terms]
    END AS lucene
  CALL db.index.fulltext.queryNodes('project_learning_fulltext', lucene, {limit: 4 * $limit}) YIELD node, score
  WITH node AS worded, score
  WHERE worded.owner_key = piece.owner_key AND worded.status IN ['approved', 'candidate', 'rejected', 'blocked']
  WITH collect(worded) AS wordeds, collect(score) AS scores
  UNWIND range(0, size(wordeds) - 1) AS n
  RETURN wordeds[n] AS hit, scores[n] / scores[0] AS part
}
WITH hit, sum(part) AS score
ORDER BY hit.owner_key, score DESC, hit.id ASC
WITH hit.owner_key AS owner_key, hit.status IN ['rejected', 'blocked'] AS refused, collect(hit) AS hits
UNWIND hits[..$limit] AS hit
RETURN hit.id AS id, owner_key, hit.text AS text, hit.status AS status, hit.origin AS origin, refused
ORDER BY owner_key, refused, id
