// @query   forget.weaken
// @since   0.2.0
// @mode    write
// @card    one
// @param   id          STRING NOT NULL
// @param   limit       INTEGER NOT NULL
// @param   at          STRING NOT NULL
// @return  checked     INTEGER NOT NULL
// @locks   (:Forgetting), exclusive, before its marks are read, then (:Learning)
// @index   forgetting_id, gate_decision_id
// @allow   Layout  the formatter's needs more lines than a body may have
// @why     A learning with another source rests on that alone, without its earlier wordings; what the
//          gate approved by words that are gone waits again, as it would have without them.
MATCH (f:Forgetting {id: $id})
SET f.touched = $id
WITH f
MATCH (f)-[m:RECHECKS]->(l:Learning)
WITH f, m, l
ORDER BY l.id ASC
LIMIT $limit
SET l.touched = $at, f.weakened = f.weakened + 1
DELETE m
WITH l, COLLECT {
    MATCH (l)-[q:EVIDENCED_BY]->(e:SessionEvent)
    WITH q, e
    ORDER BY q.at DESC, e.event_id ASC
    RETURN q {.origin, .explicit, session_id: e.session_id}
  } AS held
CALL (l, held) {
  MATCH (l)-[from:FROM_SESSION]->(s:Session)
  WHERE NOT EXISTS {
    MATCH (s)-[:HAS_SUBAGENT]->{0,3}(part:Session)
    WHERE part.session_id IN [h IN held | h.session_id]
  }
  DELETE from
}
CALL (l) {
  MATCH (l)-[:HAS_VERSION]->(v:LearningVersion)
  DETACH DELETE v
}
SET l.support_count = COUNT { (l)-[:FROM_SESSION]->(:Session) },
  l.last_source_session_id = held[0].session_id,
  l.origin = CASE WHEN l.origin IN [h IN held | h.origin] THEN l.origin ELSE held[0].origin END
WITH
  l,
  l.status = 'approved' AND l.reviewed_by IS NULL AND
    none(h IN held WHERE h.origin = 'user_typed' AND h.explicit) AS withheld,
  CASE WHEN all(h IN held WHERE h.origin IN ['assistant_tainted', 'mcp_write']) THEN 'quarantined'
    ELSE 'candidate' END AS status
FOREACH (_ IN CASE WHEN withheld THEN [1] ELSE [] END |
  SET l.status = status, l.live = status = 'candidate', l.injectable = false,
    l.wait_reason = 'what it rested on was forgotten', l.decision_count = l.decision_count + 1
  CREATE (d:GateDecision {
    id: l.id + ':d' + toString(l.decision_count), learning_id: l.id, decision_no: l.decision_count,
    to: status, by: 'forget', rule: 'lost its source',
    reason: 'what it rested on was forgotten', at: datetime($at)})
  CREATE (d)-[:DECIDED]->(l)
)
RETURN count(l) AS checked
