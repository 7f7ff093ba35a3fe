// @query   gate.queue
// @since   0.2.0
// @mode    read
// @card    many
// @param   owner_keys  LIST<STRING NOT NULL> NOT NULL
// @param   id          STRING              one learning, full or short id; null for all that wait
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  short_id    STRING NOT NULL
// @return  scope       STRING NOT NULL
// @return  text        STRING NOT NULL
// @return  status      STRING NOT NULL
// @return  origin      STRING NOT NULL
// @return  confidence  FLOAT NOT NULL
// @return  support_count  INTEGER NOT NULL
// @return  decision_count  INTEGER NOT NULL
// @return  consistency_status  STRING NOT NULL
// @return  reason      STRING NOT NULL     why a person is asked
// @return  detail      STRING              the gate's own words
// @return  created_at  ZONED DATETIME NOT NULL
// @return  updated_at  ZONED DATETIME NOT NULL
// @return  evidence    LIST<MAP NOT NULL> NOT NULL  {quote, origin, event, client, session_id, at}
// @return  conflicts   LIST<MAP NOT NULL> NOT NULL  {id, short_id, relation, status, origin, confidence, text, judge_reason, at, quote}
// @return  proposals   LIST<MAP NOT NULL> NOT NULL  {action, text, at, times}
// @locks   none
// @index   learning_status, learning_revision, supersedes_confirmed
// @allow   Layout  the formatter's needs more lines than a body may have
// @why     Everything a person is asked about, oldest first, with both sides of a conflict and the
//          words each rests on: what waits, what was flagged, and what a newer value closed unasked.
UNWIND $owner_keys AS owner
CALL (owner) {
  MATCH (l:Learning) WHERE l.owner_key = owner AND l.status IN ['candidate', 'quarantined'] RETURN l
  UNION
  MATCH (l:Learning) WHERE l.owner_key = owner AND l.needs_revision = true RETURN l
  UNION
  MATCH (l:Learning)-[s:SUPERSEDES]->(:Learning) WHERE s.confirmed = false AND l.owner_key = owner RETURN l
}
WITH DISTINCT l
WHERE $id IS NULL OR l.id = $id OR l.short_id = $id
ORDER BY l.created_at ASC, l.id ASC
LIMIT $limit
RETURN l.id AS id, l.short_id AS short_id, l.scope AS scope, l.text AS text, l.status AS status, l.origin AS origin,
  l.confidence AS confidence, l.support_count AS support_count, l.decision_count AS decision_count,
  coalesce(l.consistency_status, 'unreviewed') AS consistency_status,
  CASE
    WHEN l.needs_revision = true THEN head(split(coalesce(l.revision_reason, 'needs_revision'), ':'))
    WHEN EXISTS { (l)-[:CONTRADICTS]->(:Learning) } THEN 'ambiguous_contradiction'
    WHEN EXISTS { (l)-[:SUPERSEDES {confirmed: false}]->(:Learning) } THEN 'unconfirmed_supersession'
    WHEN l.scope = 'user' THEN 'user_scoped_candidate'
    ELSE 'waiting_candidate'
  END AS reason,
  coalesce(l.revision_reason, l.wait_reason) AS detail, l.created_at AS created_at, l.updated_at AS updated_at,
  COLLECT {
    MATCH (l)-[q:EVIDENCED_BY]->(e:SessionEvent)
    WITH q, e ORDER BY e.timestamp DESC, q.start LIMIT 3
    RETURN {quote: q.quote, origin: q.origin, event: e.event_name, client: e.client, session_id: e.session_id,
      at: toString(e.timestamp)}
  } AS evidence,
  COLLECT {
    MATCH (l)-[c:CONTRADICTS|SUPERSEDES]->(o:Learning)
    WHERE type(c) = 'CONTRADICTS' OR c.confirmed = false
    WITH c, o ORDER BY o.created_at, o.id LIMIT 5
    RETURN {id: o.id, short_id: o.short_id, relation: type(c), status: o.status, origin: o.origin,
      confidence: o.confidence, text: o.text, judge_reason: c.reason, at: toString(o.created_at),
      quote: head(COLLECT { MATCH (o)-[p:EVIDENCED_BY]->(x:SessionEvent) RETURN p.quote ORDER BY x.timestamp DESC, p.start LIMIT 1 })}
  } AS conflicts,
  COLLECT {
    MATCH (p:GateDecision)-[:ABOUT]->(l)
    WHERE p.to = 'proposed' AND (l.reviewed_at IS NULL OR p.at > l.reviewed_at)
    WITH p ORDER BY p.at DESC, p.id LIMIT 3
    RETURN {action: p.rule, text: p.reason, at: toString(p.at), times: p.times}
  } AS proposals
ORDER BY created_at ASC, id ASC
