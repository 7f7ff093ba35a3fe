// @query   timeline.digest
// @since   0.1.0
// @mode    read
// @card    maybe
// @param   session_id    STRING NOT NULL
// @return  project_id    STRING
// @return  user_id       STRING
// @return  started_at    ZONED DATETIME NOT NULL
// @return  ended_at      ZONED DATETIME NOT NULL
// @return  events        INTEGER NOT NULL
// @return  prompts       LIST<MAP NOT NULL> NOT NULL   {text, origin}, oldest first, at most 12
// @return  prompt_count  INTEGER NOT NULL
// @return  files         LIST<STRING NOT NULL> NOT NULL  written to, at most 12
// @return  tools         LIST<MAP NOT NULL> NOT NULL   {name, calls}
// @return  failures      LIST<MAP NOT NULL> NOT NULL   {tool, error}, oldest first, at most 6
// @return  outcome       STRING   last message of the agent
// @return  erased        INTEGER NOT NULL  how often events of it were erased; an episode of before must not come after
// @locks   none
// @index   session_id
// @allow   Layout  the formatter's needs more lines than a body may have
// @why     What the composer of an episode may say is exactly what these columns hold. The session's
//          subagents belong to it.
MATCH (session:Session {session_id: $session_id})
WITH
  session,
  COLLECT {
    MATCH (session)-[:HAS_SUBAGENT]->{0,3}(part:Session)-[:HAS_EVENT]->(e:SessionEvent)
    WHERE e.erased_at IS NULL
    RETURN e
    ORDER
    BY
    e.timestamp,
    e.session_id,
    e.seq
    LIMIT
    2000
  } AS events
WHERE size(events) > 0
WITH
  session,
  events,
  [e IN events WHERE e.event_name = 'UserPromptSubmit' AND e.session_id = $session_id] AS asked,
  [e IN events WHERE e.tool_error = true AND coalesce(e.is_interrupt, false) = false] AS failed,
  [e IN events WHERE e.event_name = 'Stop' AND e.last_assistant_message IS NOT NULL] AS stops
RETURN
  session.project_id AS project_id,
  session.user_id AS user_id,
  events[0].timestamp AS started_at,
  events[-1].timestamp AS ended_at,
  size(events) AS events,
  [e IN asked[..12] | {text: e.prompt, origin: e.origin}] AS prompts,
  size(asked) AS prompt_count,
  COLLECT {
    UNWIND events AS e
    WITH e
    WHERE e.file_path IS NOT NULL AND e.event_name = 'PostToolUse' AND
      e.tool_name IN ['Edit', 'MultiEdit', 'Write', 'NotebookEdit', 'apply_patch']
    RETURN DISTINCT e.file_path
    LIMIT
    12
  } AS files,
  COLLECT {
    UNWIND events AS e
    WITH e
    WHERE e.tool_name IS NOT NULL AND e.event_name IN ['PostToolUse', 'PostToolUseFailure']
    WITH e.tool_name AS name, count(*) AS calls
    ORDER BY calls DESC, name
    LIMIT 8
    RETURN {name: name, calls: calls}
  } AS tools,
  [e IN failed[..6] | {tool: e.tool_name, error: left(coalesce(e.error, e.tool_output, ''), 300)}] AS failures,
  CASE
    WHEN size(stops) = 0 THEN null
    ELSE stops[-1].last_assistant_message
  END AS outcome,
  reduce(times = 0, part IN COLLECT {
    MATCH (session)-[:HAS_SUBAGENT]->{0,3}(part:Session)
    RETURN coalesce(part.erased, 0)
  } | times + part) AS erased
