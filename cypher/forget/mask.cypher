// @query   forget.mask
// @since   0.2.0
// @mode    write
// @card    one
// @param   id          STRING NOT NULL
// @param   learning_id STRING NOT NULL
// @param   words       LIST<MAP NOT NULL> NOT NULL  each {text, instead}, of one length
// @return  masked      INTEGER NOT NULL
// @locks   (:Forgetting), exclusive, before it is used, then (:Session) of each event, exclusive, before its text is read
// @index   forgetting_id, learning_id
// @why     One learning goes, and its words out of the events it rests on; what else was said there
//          stays. The filling has the length of the words, so that other quotes keep their places.
MATCH (f:Forgetting {id: $id})
SET f.touched = $id
WITH f
MATCH (:Learning {id: $learning_id})-[:EVIDENCED_BY]->(e:SessionEvent)<-[:HAS_EVENT]-(s:Session)
WITH DISTINCT f, e, s
ORDER BY s.session_id ASC, e.seq ASC
SET s.touched = $id, s.erased = coalesce(s.erased, 0) + 1
MERGE (f)-[:RECHECKS]->(s)
SET
  e.prompt = reduce(t = e.prompt, w IN $words | replace(t, w.text, w.instead)),
  e.tool_input = reduce(t = e.tool_input, w IN $words | replace(t, w.text, w.instead)),
  e.tool_output = reduce(t = e.tool_output, w IN $words | replace(t, w.text, w.instead)),
  e.error = reduce(t = e.error, w IN $words | replace(t, w.text, w.instead)),
  e.message = reduce(t = e.message, w IN $words | replace(t, w.text, w.instead)),
  e.last_assistant_message = reduce(t = e.last_assistant_message, w IN $words | replace(t, w.text, w.instead))
RETURN count(e) AS masked
