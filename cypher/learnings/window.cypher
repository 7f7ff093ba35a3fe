// @query   learnings.window
// @since   0.1.0
// @mode    read
// @card    many
// @param   session_id  STRING NOT NULL
// @param   limit       INTEGER NOT NULL
// @return  event_id    STRING NOT NULL
// @return  session_id  STRING NOT NULL
// @return  seq         INTEGER NOT NULL
// @return  event_name  STRING NOT NULL
// @return  at          ZONED DATETIME NOT NULL
// @return  origin      STRING
// @return  prompt      STRING
// @return  message     STRING
// @return  tool_name   STRING
// @return  tool_input  STRING
// @return  tool_use_id STRING
// @return  failed      BOOLEAN NOT NULL
// @return  error       STRING
// @return  heard       STRING              the worst that a tool had told the session before
// @locks   none
// @index   session_id, session_event_seq
// @why     Reads from each session's watermark, so the cost follows what is new and not what was.
//          Session by session: a join of both could be planned as a product of all of them.
//          Within a session its numbers order, whatever the clock did: what is read is marked up to the
//          highest number, so an event that stood behind by its time would never be read.
//          A successful tool's output is not among the columns: it never reaches the extractor.
MATCH (whole:Session {session_id: $session_id})-[:HAS_SUBAGENT]->{0,3}(part:Session)
CALL (part) {
  MATCH (e:SessionEvent)
  WHERE e.session_id = part.session_id AND e.seq > coalesce(part.processed_seq, 0) AND e.erased_at IS NULL
  WITH e
  ORDER BY e.seq ASC
  LIMIT $limit
  WITH collect(e) AS events
  UNWIND range(0, size(events) - 1) AS i
  RETURN
    events[i] AS e,
    reduce(
      latest = events[i].timestamp,
      one IN events[..i] |
        CASE
          WHEN one.timestamp > latest THEN one.timestamp
          ELSE latest
        END) AS placed
}
WITH e, whole, placed
ORDER BY placed, e.session_id, e.seq
LIMIT $limit
RETURN
  e.event_id AS event_id,
  e.session_id AS session_id,
  e.seq AS seq,
  e.event_name AS event_name,
  e.timestamp AS at,
  e.origin AS origin,
  e.prompt AS prompt,
  e.last_assistant_message AS message,
  e.tool_name AS tool_name,
  e.tool_input AS tool_input,
  e.tool_use_id AS tool_use_id,
  coalesce(e.tool_error, false) AND NOT coalesce(e.is_interrupt, false) AS failed,
  CASE
    WHEN e.tool_error = true THEN coalesce(e.error, e.tool_output)
  END AS error,
  whole.heard AS heard
