// @query   learnings.why
// @since   0.1.0
// @mode    read
// @card    many
// @param   id          STRING NOT NULL     full or short
// @return  id          STRING NOT NULL
// @return  short_id    STRING NOT NULL
// @return  text        STRING NOT NULL
// @return  status      STRING NOT NULL
// @return  scope       STRING NOT NULL
// @return  origin      STRING NOT NULL
// @return  source      STRING NOT NULL
// @return  created_at  ZONED DATETIME NOT NULL
// @return  support_count  INTEGER NOT NULL
// @return  inject_count   INTEGER NOT NULL
// @return  retrieval_count  INTEGER NOT NULL
// @return  evidence    LIST<MAP NOT NULL> NOT NULL  {quote, origin, event, client, session_id, at, extractor}
// @return  decisions   LIST<MAP NOT NULL> NOT NULL  {no, to, by, rule, reason, at, screens, neighbours, model, prompt, undone}
// @return  deliveries  LIST<MAP NOT NULL> NOT NULL  {session_id, hook_event, at}
// @locks   none
// @index   learning_id, learning_short_id
// @allow   Layout  the formatter's needs more lines than a body may have
// @why     Everything that can be said of one line: who said it, in which words, what let it pass,
//          and to which sessions it was told.
MATCH (l:Learning)
WHERE l.id = $id OR l.short_id = $id
RETURN l.id AS id, l.short_id AS short_id, l.text AS text, l.status AS status, l.scope AS scope, l.origin AS origin,
  l.source AS source, l.created_at AS created_at, l.support_count AS support_count, l.inject_count AS inject_count,
  l.retrieval_count AS retrieval_count,
  COLLECT {
    MATCH (l)-[q:EVIDENCED_BY]->(e:SessionEvent)
    WITH q, e ORDER BY e.timestamp, q.start LIMIT 20
    RETURN {quote: q.quote, origin: q.origin, event: e.event_name, client: e.client, session_id: e.session_id,
      at: toString(e.timestamp), extractor: q.extractor}
  } AS evidence,
  COLLECT {
    MATCH (d:GateDecision)-[:DECIDED]->(l)
    WITH d ORDER BY d.at, d.id LIMIT 20
    RETURN {no: d.decision_no, to: d.to, by: d.by, rule: d.rule, reason: d.reason, at: toString(d.at),
      screens: d.screens, neighbours: d.neighbours, model: d.model, prompt: d.prompt, undone: toString(d.undone_at)}
  } AS decisions,
  COLLECT {
    MATCH (l)-[i:INJECTED_IN]->(s:Session)
    WITH i, s ORDER BY i.first_injected_at DESC LIMIT 20
    RETURN {session_id: s.session_id, hook_event: i.hook_event, at: toString(i.first_injected_at)}
  } AS deliveries
ORDER BY id
