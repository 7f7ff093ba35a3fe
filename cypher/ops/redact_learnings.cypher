// @query   ops.redact_learnings
// @since   0.1.0
// @mode    write
// @card    one
// @param   rows        LIST<MAP NOT NULL> NOT NULL  each {id, texts, quotes, terms, value_key, embedding, embedding_model}
// @return  written     INTEGER NOT NULL
// @locks   none
// @index   learning_id, learning_value_key
// @why     Two learnings that differed in a secret only would share one value key: the second keeps
//          its own, marked by its id, so that neither is lost.
UNWIND $rows AS row
MATCH (l:Learning {id: row.id})
OPTIONAL MATCH (twin:Learning {value_key: row.value_key})
WHERE twin.id <> l.id
WITH l, row, count(twin) AS twins
SET
  l += row.texts,
  l.terms = row.terms,
  l.value_key =
    CASE twins
      WHEN 0 THEN row.value_key
      ELSE row.value_key + '~' + l.short_id
    END,
  l.embedding = row.embedding,
  l.embedding_model = row.embedding_model
WITH l, row
CALL (l, row) {
  MATCH (l)-[q:EVIDENCED_BY]->(e:SessionEvent)
  WITH q
  ORDER BY e.event_id ASC, q.start ASC, q.end ASC
  WITH collect(q) AS found
  UNWIND range(0, size(found) - 1) AS at
  WITH found[at] AS q, at
  SET q.quote = coalesce(row.quotes[at], q.quote)
  RETURN count(q) AS quotes
}
RETURN count(l) AS written
