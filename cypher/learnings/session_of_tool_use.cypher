// @query   learnings.session_of_tool_use
// @since   0.1.0
// @mode    read
// @card    many
// @param   tool_use_id  STRING NOT NULL    as the client sends it with the call
// @return  session_id  STRING NOT NULL
// @return  event_id    STRING NOT NULL
// @return  tool_input  STRING
// @locks   none
// @index   session_event_tool_use
// @why     A client tells which call it makes, not in which session: the event before the call tells
//          that. Only calls still under way count, so an id that was used before does not mislead;
//          two sessions that claim the same open call are two rows, and the caller then knows nothing.
MATCH (before:SessionEvent)
WHERE
  before.tool_use_id = $tool_use_id AND
  before.event_name = 'PreToolUse' AND
  NOT EXISTS {
    MATCH (after:SessionEvent)
    WHERE
      after.tool_use_id = $tool_use_id AND
      after.session_id = before.session_id AND
      after.event_name IN ['PostToolUse', 'PostToolUseFailure']
  }
RETURN before.session_id AS session_id, before.event_id AS event_id, before.tool_input AS tool_input
ORDER BY before.timestamp DESC, event_id
LIMIT 2
