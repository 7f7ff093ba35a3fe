// @query   learnings.story
// @since   0.2.0
// @mode    read
// @card    maybe
// @param   id          STRING NOT NULL     a learning's full id
// @return  owner_key   STRING NOT NULL
// @return  consistency_status  STRING
// @return  wait_reason  STRING
// @return  rejected_reason  STRING
// @return  reviewed_by  STRING
// @return  use_count   INTEGER
// @return  last_used_at  ZONED DATETIME
// @return  valid_from  ZONED DATETIME
// @return  valid_until  ZONED DATETIME
// @return  last_confirmed_at  ZONED DATETIME
// @return  runs        LIST<MAP NOT NULL> NOT NULL  {at, extractor, model, prompt}
// @return  versions    LIST<MAP NOT NULL> NOT NULL  {text, by, at}
// @return  replaced    LIST<MAP NOT NULL> NOT NULL  {id, text, status, steps, reason, confirmed, valid_until}
// @return  replaced_by  LIST<MAP NOT NULL> NOT NULL  {id, text, status, steps, reason, confirmed, valid_until}
// @return  conflicts   LIST<MAP NOT NULL> NOT NULL  {id, text, status, reason}
// @return  similar     LIST<MAP NOT NULL> NOT NULL  {id, text, status, reason}
// @return  folded      LIST<MAP NOT NULL> NOT NULL  {id, text, reason}
// @return  verdicts    LIST<MAP NOT NULL> NOT NULL  {kind, note, at, session_id}
// @locks   none
// @index   learning_id
// @allow   Layout  the formatter's needs more lines than a body may have
// @why     What became of a learning: who read it out of which run, what its text was, what it
//          replaced or was replaced by, step by step, and what people said when they were told it.
MATCH (l:Learning {id: $id})
RETURN l.owner_key AS owner_key, l.consistency_status AS consistency_status, l.wait_reason AS wait_reason,
  l.rejected_reason AS rejected_reason, l.reviewed_by AS reviewed_by, l.use_count AS use_count,
  l.last_used_at AS last_used_at, l.valid_from AS valid_from, l.valid_until AS valid_until,
  l.last_confirmed_at AS last_confirmed_at,
  COLLECT {
    MATCH (p:ProjectProcessing)-[:PRODUCED_LEARNING|UPDATED_LEARNING]->(l)
    WITH DISTINCT p ORDER BY p.created_at, p.id LIMIT 20
    RETURN {at: toString(p.created_at), extractor: p.extractor, model: p.llm_model, prompt: p.llm_prompt}
  } AS runs,
  COLLECT {
    MATCH (l)-[:HAS_VERSION]->(v:LearningVersion)
    WITH v ORDER BY v.at, v.id LIMIT 20
    RETURN {text: v.text, by: v.by, at: toString(v.at)}
  } AS versions,
  COLLECT {
    MATCH (l)-[s:SUPERSEDES]->{1,20}(o:Learning)
    WITH o, s ORDER BY size(s), o.id LIMIT 20
    RETURN {id: o.short_id, text: o.text, status: o.status, steps: size(s), reason: s[-1].reason,
      confirmed: s[-1].confirmed, valid_until: toString(o.valid_until)}
  } AS replaced,
  COLLECT {
    MATCH (n:Learning)-[s:SUPERSEDES]->{1,20}(l)
    WITH n, s ORDER BY size(s), n.id LIMIT 20
    RETURN {id: n.short_id, text: n.text, status: n.status, steps: size(s), reason: s[0].reason,
      confirmed: s[0].confirmed, valid_until: toString(n.valid_until)}
  } AS replaced_by,
  COLLECT {
    MATCH (l)-[c:CONTRADICTS|CONTRADICTED_BY]-(o:Learning)
    WITH DISTINCT c, o ORDER BY o.id LIMIT 20
    RETURN {id: o.short_id, text: o.text, status: o.status, reason: c.reason}
  } AS conflicts,
  COLLECT {
    MATCH (l)-[s:SIMILAR_TO]-(o:Learning)
    WHERE l.value_key IN s.value_keys AND o.value_key IN s.value_keys
    WITH s, o ORDER BY o.id LIMIT 20
    RETURN {id: o.short_id, text: o.text, status: o.status, reason: s.reason}
  } AS similar,
  COLLECT {
    MATCH (f:Learning)-[a:ALREADY_LEARNED_FROM]->(l)
    WITH f, a ORDER BY f.id LIMIT 20
    RETURN {id: f.short_id, text: f.text, reason: a.reason}
  } AS folded,
  COLLECT {
    MATCH (v:Verdict)-[:ABOUT]->(l)
    WITH v ORDER BY v.at, v.id LIMIT 20
    RETURN {kind: v.kind, note: v.note, at: toString(v.at), session_id: v.session_id}
  } AS verdicts
