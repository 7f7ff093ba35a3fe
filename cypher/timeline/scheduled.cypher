// @query   timeline.scheduled
// @since   0.1.0
// @mode    read
// @card    many
// @param   tools       LIST<STRING NOT NULL> NOT NULL   tools by which an agent schedules a prompt
// @param   limit       INTEGER NOT NULL
// @return  tool_input  STRING NOT NULL
// @return  session_id  STRING NOT NULL   the main session, also for a call of a subagent
// @locks   none
// @index   session_event_tool_name, session_id
// @why     A client submits a scheduled prompt without any mark: only the call that scheduled it
//          tells that an agent, and not the user, wrote it. It may outlive its session.
MATCH (e:SessionEvent)
WHERE e.tool_name IN $tools AND e.tool_input IS NOT NULL
WITH e
ORDER BY e.timestamp DESC, e.event_id ASC
LIMIT $limit
MATCH (s:Session {session_id: e.session_id})
RETURN e.tool_input AS tool_input, coalesce(s.parent_session_id, s.session_id) AS session_id
