// @query   learnings.told
// @since   0.1.0
// @mode    read
// @card    many
// @param   session_id  STRING NOT NULL
// @param   limit       INTEGER NOT NULL
// @return  text        STRING NOT NULL
// @locks   none
// @index   session_id
// @why     What a session was told must not come back as something it learned.
MATCH (l:Learning)-[i:INJECTED_IN]->(:Session {session_id: $session_id})
WITH l, i
ORDER BY i.last_injected_at DESC, l.id ASC
LIMIT $limit
RETURN l.text AS text
