// @query   gate.neighbours
// @since   0.2.0
// @mode    write
// @card    many
// @param   owners      LIST<STRING NOT NULL> NOT NULL  keys to lock, in order; empty for a look without a lock
// @param   rows        LIST<MAP NOT NULL> NOT NULL  each {no, owner_key, value_key, words_key, frame_key, terms, vector, event_id}
// @param   embedding_model  STRING NOT NULL
// @param   pool        INTEGER NOT NULL    taken from each index before anything is left out
// @param   limit       INTEGER NOT NULL    live neighbours of one row
// @param   at          STRING NOT NULL
// @return  no          INTEGER NOT NULL
// @return  told_at     ZONED DATETIME      when the event that says it happened
// @return  holder      MAP                 who has the value key already
// @return  neighbours  LIST<MAP NOT NULL> NOT NULL  best first; refused ones after the live ones
// @locks   (:Lease) of each owner, exclusive: what one gate compares, no other changes meanwhile
// @index   project_learning_vector, project_learning_fulltext, learning_value_key, learning_words, learning_frame, session_event_id, lease_key
// @uses    db.index.fulltext.queryNodes
// @allow   Layout  one value a line would pass the limit of a body
// @why     A whole batch in one statement: each side's ranks are fused (1 / (60 + rank)), then cut. Who
//          differs in a number alone is found by its frame, whatever its rank. Closed ones are history.
CALL () { UNWIND $owners AS key MERGE (lease:Lease {key: 'gate:' + key}) SET lease.touched = $at RETURN count(lease) AS locked }
UNWIND $rows AS row
CALL (row) {
  CALL (row) {
    MATCH (near:Learning)
      SEARCH near IN (
        VECTOR INDEX project_learning_vector
        FOR row.vector
        WHERE near.owner_key = row.owner_key AND near.live = true AND near.embedding_model = $embedding_model
        LIMIT $pool
      ) SCORE AS closeness
    WITH near, 2.0 * closeness - 1.0 AS cosine
    WHERE near.valid_until IS NULL AND near.value_key <> row.value_key
    WITH near, cosine
    ORDER BY cosine DESC, near.id
    WITH collect({hit: near, cosine: cosine}) AS nears
    UNWIND range(0, size(nears) - 1) AS rank
    RETURN nears[rank].hit AS hit, nears[rank].cosine AS cosine, 1.0 / (61 + rank) AS part
      UNION ALL
    UNWIND CASE WHEN row.terms = '' THEN [] ELSE [row.terms] END AS lucene
    CALL db.index.fulltext.queryNodes('project_learning_fulltext', lucene, {limit: $pool}) YIELD node, score AS bm25
    WITH node AS worded, bm25
    WHERE worded.owner_key = row.owner_key AND worded.value_key <> row.value_key
      AND (worded.live = true AND worded.valid_until IS NULL OR worded.status IN ['rejected', 'blocked'])
    WITH worded, bm25
    ORDER BY bm25 DESC, worded.id
    WITH collect(worded) AS wordeds
    UNWIND range(0, size(wordeds) - 1) AS rank
    RETURN wordeds[rank] AS hit, null AS cosine, 1.0 / (61 + rank) AS part
      UNION ALL
    MATCH (framed:Learning)
    USING INDEX SEEK framed:Learning(owner_key, frame_key)
    WHERE framed.owner_key = row.owner_key AND framed.frame_key = row.frame_key AND framed.live = true AND framed.valid_until IS NULL AND framed.value_key <> row.value_key
    WITH framed ORDER BY framed.updated_at DESC, framed.id LIMIT 5
    RETURN framed AS hit, null AS cosine, 1.0 / 60 AS part
      UNION ALL
    MATCH (same:Learning)
    USING INDEX SEEK same:Learning(owner_key, words_key)
    WHERE same.owner_key = row.owner_key AND same.words_key = row.words_key AND same.status IN ['rejected', 'blocked'] AND same.value_key <> row.value_key
    WITH same ORDER BY same.id LIMIT 5
    RETURN same AS hit, null AS cosine, 1.0 / 60 AS part
  }
  WITH hit, max(cosine) AS cosine, sum(part) AS score
  ORDER BY score DESC, hit.id
  WITH collect({hit: hit, cosine: cosine, score: score}) AS found
  UNWIND [f IN found WHERE f.hit.live][..$limit] + [f IN found WHERE NOT f.hit.live][..5] AS f
  WITH f.hit AS hit, f.cosine AS cosine, f.score AS score
  RETURN collect(hit {.id, .value_key, .words_key, .text, .status, .scope, .origin, .confidence, .support_count, .reviewed_by, .rejected_reason, .user_id, cosine: CASE WHEN cosine IS NULL AND hit.origin = 'user_typed' AND hit.embedding_model = $embedding_model AND row.vector IS NOT NULL
    THEN 2.0 * vector.similarity.cosine(hit.embedding, row.vector) - 1.0 ELSE cosine END, score: score, live: hit.live, from: coalesce(hit.last_confirmed_at, hit.valid_from, hit.created_at), came: [hit.created_at, coalesce(hit.said_no, 0), hit.id]}) AS neighbours
}
OPTIONAL MATCH (event:SessionEvent {event_id: row.event_id})
OPTIONAL MATCH (own:Learning {value_key: row.value_key})
RETURN row.no AS no, event.timestamp AS told_at, own {.id, .value_key, .words_key, .owner_key, .text, .status, .origin, .user_id, .reviewed_by, .rejected_reason, .valid_until, .live, from: coalesce(own.last_confirmed_at, own.valid_from, own.created_at), came: [own.created_at, coalesce(own.said_no, 0), own.id]} AS holder, neighbours
ORDER BY no
