// @query   learnings.revise
// @since   0.1.0
// @mode    write
// @card    many
// @param   rows        LIST<MAP NOT NULL> NOT NULL  each {id, value_key, fixed, text, embedding, embedding_model, origins, at, version}
// @param   owner_keys  LIST<STRING NOT NULL> NOT NULL  whose learnings may be touched
// @return  id          STRING NOT NULL
// @return  outcome     STRING NOT NULL    revised, same, new or foreign
// @return  demoted     BOOLEAN NOT NULL
// @locks   (:Learning), exclusive, before its status and reviewer are read
// @index   learning_id, learning_value_key, learning_version_id
// @why     'new': a person has reviewed the text, its source is better than this one, or the value is
//          known elsewhere: the change becomes a candidate of its own. An approved text that
//          changes has to pass the gate again; its words before are kept as a version.
UNWIND $rows AS row
CALL (row) {
  OPTIONAL MATCH (l:Learning {id: row.id})
  SET l.touched = row.at
  WITH
    l,
    CASE
      WHEN l IS NULL OR NOT l.owner_key IN $owner_keys THEN 'foreign'
      WHEN l.value_key = row.value_key THEN 'same'
      WHEN
        l.reviewed_by = 'human' OR
        l.consolidated = true OR
        l.valid_until IS NOT NULL OR
        NOT l.status IN ['approved', 'candidate'] OR
        NOT l.origin IN row.origins OR
        EXISTS {
        (:Learning {value_key: row.value_key})
        }
        THEN 'new'
      ELSE 'revised'
    END AS outcome
  WITH l, outcome, outcome = 'revised' AND l.status = 'approved' AS demoted
  FOREACH (_ IN
  CASE outcome
    WHEN 'revised' THEN [1]
    ELSE []
  END |
    MERGE (v:LearningVersion {id: row.version})
      ON CREATE SET v.learning_id = l.id, v.text = l.text, v.by = 'extraction', v.at = datetime(row.at)
    MERGE (l)-[:HAS_VERSION]->(v)
    SET
      l += row.fixed,
      l.text = row.text,
      l.value_key = row.value_key,
      l.embedding = row.embedding,
      l.embedding_model = row.embedding_model,
      l.status = 'candidate',
      l.injectable = false,
      l.safety_status = null,
      l.safety_checked_at = null,
      l.consistency_status = null,
      l.consistency_checked_at = null,
      l.updated_at = datetime(row.at)
  )
  RETURN outcome, demoted
}
RETURN row.id AS id, outcome, demoted
