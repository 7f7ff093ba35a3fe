// @query   forget.empty_events
// @since   0.2.0
// @mode    write
// @card    one
// @param   before      ZONED DATETIME NOT NULL
// @param   outputs     BOOLEAN NOT NULL  only what tools gave back, not what was said
// @param   limit       INTEGER NOT NULL
// @return  emptied     INTEGER NOT NULL
// @locks   (:SessionEvent), exclusive, by the write itself
// @allow   NodeByLabelScan  a sweep goes over everything, in idle time
// @why     What is over its time loses its texts. Its place, its kind and the quotes that learnings
//          rest on stay: they stand on the evidence, not on the event.
MATCH (e:SessionEvent)
WHERE
  e.timestamp < $before AND
  e.erased_at IS NULL AND
  CASE
    WHEN $outputs THEN e.tool_output IS NOT NULL
    ELSE e.emptied_at IS NULL
  END
WITH e
LIMIT $limit
SET e.tool_output = null, e.emptied_at =
    CASE
      WHEN $outputs THEN e.emptied_at
      ELSE datetime()
    END
FOREACH (_ IN
CASE
  WHEN $outputs THEN []
  ELSE [1]
END |
  SET
    e.prompt = null,
    e.tool_input = null,
    e.error = null,
    e.message = null,
    e.last_assistant_message = null,
    e.file_path = null,
    e.cwd = null,
    e.transcript_path = null
)
RETURN count(e) AS emptied
