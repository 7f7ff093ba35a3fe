// @query   forget.holding
// @since   0.2.0
// @mode    read
// @card    many
// @param   forms       LIST<STRING NOT NULL> NOT NULL  the text in small letters, as it is and as JSON writes it
// @return  kind        STRING NOT NULL  event, learning or episode
// @return  id          STRING NOT NULL
// @locks   none
// @allow   NodeByLabelScan  a text is looked for everywhere, when a person asks
// @why     Texts of events, imported turns and learnings with their quotes, earlier wordings, what
//          people said of them and what agents proposed. An episode that code composed is made again and not listed.
CALL () {
  MATCH (e:SessionEvent)
  WHERE
    any(
      value IN [e.prompt, e.tool_input, e.tool_output, e.error, e.last_assistant_message, e.message, e.cwd, e.file_path]
      WHERE any(form IN $forms WHERE toLower(value) CONTAINS form)
    )
  RETURN 'event' AS kind, e.event_id AS id
    UNION
  MATCH (e:Episode)
  WHERE
    e.source = 'import' AND
    any(value IN [e.title, e.narrative] + e.facts WHERE any(form IN $forms WHERE toLower(value) CONTAINS form))
  RETURN 'episode' AS kind, e.id AS id
    UNION
  MATCH (l:Learning)
  WHERE
    any(
      value IN
      [l.text, l.summary, l.task_pattern, l.tool_key, l.error_signature, l.wait_reason, l.rejected_reason] +
      COLLECT {
        MATCH (l)-[q:EVIDENCED_BY]->(:SessionEvent)
        RETURN q.quote
      } +
      COLLECT {
        MATCH (l)-[:HAS_VERSION]->(v:LearningVersion)
        RETURN v.text
      } +
      COLLECT {
        MATCH (said:Verdict)-[:ABOUT]->(l)
        RETURN said.note
      } +
      COLLECT {
        MATCH (d:GateDecision)-[:ABOUT]->(l)
        RETURN d.reason
      }
      WHERE any(form IN $forms WHERE toLower(value) CONTAINS form)
    )
  RETURN 'learning' AS kind, l.id AS id
}
RETURN kind, id
ORDER BY kind, id
