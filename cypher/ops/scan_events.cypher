// @query   ops.scan_events
// @since   0.1.0
// @mode    read
// @card    many
// @param   after       STRING NOT NULL     the last id of the page before, '' for the first
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  texts       MAP NOT NULL        what was said, by property
// @locks   none
// @index   session_event_id
// @why     A sweep reads every text once, in pages that the key's own index orders.
MATCH (e:SessionEvent)
WHERE e.event_id > $after
RETURN
  e.event_id AS id,
  e {.prompt, .tool_input, .tool_output, .error, .last_assistant_message, .message, .cwd, .transcript_path, .file_path} AS texts
ORDER BY id ASC
LIMIT $limit
