// @query   ops.scan_learnings
// @since   0.1.0
// @mode    read
// @card    many
// @param   after       STRING NOT NULL     the last id of the page before, '' for the first
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  owner_key   STRING NOT NULL
// @return  texts       MAP NOT NULL        text, summary, task_pattern, tool_key, error_signature, reasons, quotes
// @locks   none
// @index   learning_id
// @why     A learning and the words it rests on are swept together.
MATCH (l:Learning)
WHERE l.id > $after
WITH l
ORDER BY l.id ASC
LIMIT $limit
RETURN
  l.id AS id,
  l.owner_key AS owner_key,
  l {
    .text,
    .summary,
    .task_pattern,
    .tool_key,
    .error_signature,
    .wait_reason,
    .rejected_reason,
    quotes:
      COLLECT {
        MATCH (l)-[q:EVIDENCED_BY]->(e:SessionEvent)
        RETURN q.quote
        ORDER
        BY
        e.event_id
        ASC,
        q.start
        ASC,
        q.end
        ASC
      }
  } AS texts
ORDER BY id ASC
