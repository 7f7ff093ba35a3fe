// @query   learnings.receipts
// @since   0.1.0
// @mode    read
// @card    many
// @param   session_id  STRING NOT NULL
// @param   limit       INTEGER NOT NULL    newest deliveries first
// @return  id          STRING NOT NULL
// @return  short_id    STRING NOT NULL
// @return  text        STRING NOT NULL
// @return  origin      STRING NOT NULL
// @return  status      STRING NOT NULL     as it is now
// @return  status_then STRING NOT NULL     as it was told
// @return  epoch       INTEGER NOT NULL
// @return  hook_event  STRING NOT NULL
// @return  at          ZONED DATETIME NOT NULL
// @return  prompt      STRING              to which it was told; null at a start
// @return  state       STRING NOT NULL     delivered, confirmed or unknown
// @locks   none
// @index   session_id
// @why     The ledger of one session: what was handed over, to which prompt, and whether the client's
//          own record shows that the model was given it.
MATCH (l:Learning)-[i:INJECTED_IN]->(session:Session {session_id: $session_id})
WITH session, l, i
ORDER BY i.first_injected_at DESC, l.id ASC
LIMIT $limit
RETURN
  l.id AS id,
  l.short_id AS short_id,
  l.text AS text,
  l.origin AS origin,
  l.status AS status,
  i.status_then AS status_then,
  i.epoch AS epoch,
  i.hook_event AS hook_event,
  i.first_injected_at AS at,
  head(
    COLLECT {
      MATCH (l)-[:INJECTED_AT]->(e:SessionEvent)
      WHERE e.session_id = session.session_id AND e.timestamp = i.first_injected_at
      RETURN e.prompt
    }) AS prompt,
  coalesce(i.seen, 'delivered') AS state
ORDER BY at DESC, id ASC
