// @query   learnings.typed_prompts
// @since   0.1.0
// @mode    read
// @card    many
// @param   session_id  STRING NOT NULL
// @param   limit       INTEGER NOT NULL
// @return  event_id    STRING NOT NULL
// @return  prompt      STRING NOT NULL
// @locks   none
// @index   session_event_seq
// @why     What the user typed in one session, newest first. Pasted and generated prompts are not
//          among them: a claim found there stays a claim of the agent.
MATCH (e:SessionEvent)
WHERE
  e.session_id = $session_id AND
  e.seq IS NOT NULL AND
  e.event_name = 'UserPromptSubmit' AND
  e.origin = 'user_typed' AND
  e.prompt IS NOT NULL
WITH e
ORDER BY e.seq DESC
LIMIT $limit
RETURN e.event_id AS event_id, e.prompt AS prompt
