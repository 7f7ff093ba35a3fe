// @query   gate.edit
// @since   0.2.0
// @mode    write
// @card    maybe
// @param   decision    STRING NOT NULL     the decision that edits
// @param   text        STRING NOT NULL
// @param   summary     STRING NOT NULL
// @param   terms       STRING NOT NULL
// @param   value_key   STRING NOT NULL
// @param   frame_key   STRING NOT NULL
// @param   words_key   STRING NOT NULL
// @param   at          STRING NOT NULL
// @return  id          STRING NOT NULL
// @return  twin        STRING              another learning that says this already; nothing is edited then
// @locks   (:Learning), exclusive, by `gate.resolve` in the same transaction
// @index   gate_decision_id, learning_version_id, learning_value_key, learning_id
// @why     The former text is kept as a version, with all that was made from it. The vector goes: the
//          worker makes one of the new text.
MATCH (d:GateDecision {id: $decision})
MATCH (l:Learning {id: d.learning_id})
OPTIONAL MATCH (twin:Learning {value_key: $value_key})
WHERE twin.id <> l.id
FOREACH (_ IN
CASE
  WHEN twin IS NULL THEN [1]
  ELSE []
END |
  MERGE (v:LearningVersion {id: d.id + ':text'})
    ON CREATE SET
      v.learning_id = l.id,
      v.text = l.text,
      v.summary = l.summary,
      v.terms = l.terms,
      v.value_key = l.value_key,
      v.frame_key = l.frame_key,
      v.words_key = l.words_key,
      v.by = d.by,
      v.at = datetime($at)
  MERGE (l)-[:HAS_VERSION]->(v)
  SET
    l.text = $text,
    l.summary = $summary,
    l.terms = $terms,
    l.value_key = $value_key,
    l.frame_key = $frame_key,
    l.words_key = $words_key,
    l.updated_at = datetime($at),
    l.embedding = null,
    l.embedding_model = null
)
RETURN l.id AS id, twin.id AS twin
