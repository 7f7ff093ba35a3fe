// @query   timeline.search
// @since   0.1.0
// @mode    read
// @card    many
// @param   owner_key   STRING NOT NULL
// @param   owner_token STRING NOT NULL   stands for the owner inside the full-text query
// @param   terms       LIST<STRING NOT NULL> NOT NULL   telling words; none for vectors only
// @param   words       LIST<STRING NOT NULL> NOT NULL   every word of the question, for names in it
// @param   vector      LIST<FLOAT>       null for words only
// @param   embedding_model  STRING NOT NULL
// @param   weights     MAP NOT NULL      {vector, after, before, speaker, asking}; after and before are lists by distance
// @param   pool        INTEGER NOT NULL  taken from each index
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  type        STRING NOT NULL
// @return  title       STRING NOT NULL
// @return  narrative   STRING NOT NULL
// @return  user_id     STRING
// @return  injectable  BOOLEAN NOT NULL
// @return  ended_at    ZONED DATETIME NOT NULL
// @return  score       FLOAT NOT NULL
// @return  sources     LIST<STRING NOT NULL> NOT NULL   vector, text, beside
// @locks   none
// @index   project_observation_vector, project_observation_fulltext, speaker_owner
// @uses    db.index.fulltext.queryNodes
// @allow   Layout  the formatter's needs more lines than a body may have
// @why     Both sides are made parts of their own best. What the words hit lends to what was said
//          just before and after it, and who is named in the question is preferred as a speaker.
OPTIONAL MATCH (speaker:Speaker {owner_key: $owner_key})
WHERE speaker.word IN $words
WITH collect(speaker) AS named
WITH named, [t IN $terms WHERE t =~ '[\\p{L}\\p{N}\\p{M}._-]+'] AS safe
WITH named, safe, [t IN safe WHERE NOT t IN [s IN named | s.word]] AS telling
WITH named, reduce(q = '', t IN CASE telling WHEN [] THEN safe ELSE telling END | q + ' "' + t + '"') AS quoted
CALL (quoted) {
  MATCH (near:Episode)
    SEARCH near IN (
      VECTOR INDEX project_observation_vector
      FOR $vector
      WHERE near.owner_key = $owner_key AND near.live = true AND near.embedding_model = $embedding_model
      LIMIT $pool
    ) SCORE AS closeness
  WITH near, 2 * closeness - 1 AS cosine
  WHERE cosine > 0
  WITH collect({hit: near, own: cosine}) AS found, max(cosine) AS best
  UNWIND found AS f
  RETURN f.hit AS hit, $weights.vector * (f.own / best) ^ 2 AS part, 'vector' AS source
    UNION ALL
  UNWIND CASE quoted WHEN '' THEN [] ELSE ['+owner_token:' + $owner_token + '^0 +terms:(' + quoted + ')'] END AS lucene
  CALL db.index.fulltext.queryNodes('project_observation_fulltext', lucene, {limit: $pool}) YIELD node, score AS bm25
  WITH node AS worded, bm25, size(split(node.terms, ' ')) AS length
  WHERE worded.owner_key = $owner_key AND worded.live = true
  WITH collect({hit: worded, own: bm25, length: length}) AS found, avg(length) AS usual
  UNWIND found AS f
  WITH f.hit AS worded, f.own * (1.3 + 0.9 * f.length / usual) AS own
  WITH collect({hit: worded, own: own}) AS found, max(own) AS best
  UNWIND found AS f
  WITH f.hit AS worded, (f.own / best) ^ 1.5 AS own
  CALL (worded, own) {
    MATCH way = (worded)-[:NEXT*0..3]->(beside:Episode)
    RETURN beside, $weights.after[length(way)] AS share
      UNION ALL
    MATCH way = (beside:Episode)-[:NEXT*1..3]->(worded)
    RETURN beside, $weights.before[length(way)] AS share
  }
  WITH worded, own, beside, share
  WHERE beside.session_id = worded.session_id AND beside.owner_key = $owner_key AND beside.live = true
  RETURN beside AS hit, own * share AS part, CASE beside WHEN worded THEN 'text' ELSE 'beside' END AS source
}
WITH named, hit, sum(part) AS fit, collect(DISTINCT source) AS sources
WHERE fit > 0
WITH hit, sources, fit * CASE hit.type WHEN 'question' THEN $weights.asking ELSE 1.0 END * CASE
  WHEN size(named) = 1 AND EXISTS { (hit)-[:SPOKEN_BY]->(s) WHERE s IN named } THEN $weights.speaker
  ELSE 1.0 END AS score
ORDER BY score DESC, hit.id
LIMIT $limit
RETURN hit.id AS id, hit.type AS type, hit.title AS title, hit.narrative AS narrative, hit.user_id AS user_id,
  coalesce(hit.injectable, false) AS injectable, hit.ended_at AS ended_at, score, sources
