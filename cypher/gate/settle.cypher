// @query   gate.settle
// @since   0.1.0
// @mode    write
// @card    many
// @param   decisions   LIST<MAP NOT NULL> NOT NULL  each {learning_id, at, valid_from, by, origin, ceiling, corroborated, rule, reason, safety_status, safety_model, model, prompt, neighbours, relations}
// @return  learning_id STRING NOT NULL
// @return  status      STRING NOT NULL
// @return  changed     BOOLEAN NOT NULL
// @return  rejected    LIST<STRING NOT NULL> NOT NULL  what this decision ended
// @locks   (:Learning) of the decision and of each relation, exclusive, before their statuses are read
// @index   learning_id, gate_decision_id
// @allow   Layout  one value a line would pass the limit of a body
// @why     Veto before restatement before win before doubt before clean. Only a waiting row moves, a win
//          only where the origin's ceiling lets it, and nothing that a person decided; whoever is gone
//          by now counts no more. The filter properties are set by the write that sets the status.
UNWIND $decisions AS decision
CALL (decision) {
  MATCH (l:Learning {id: decision.learning_id})
  SET l.touched = decision.at
  WITH l, coalesce(datetime(decision.valid_from), datetime(decision.at)) AS since
  CALL (l, decision) {
    UNWIND coalesce(decision.relations, []) AS relation
    MATCH (o:Learning {id: relation.id})
    WHERE o.id <> l.id
    SET o.touched = decision.at WITH o, relation WHERE CASE WHEN relation.kind IN ['refused', 'echo'] THEN o.status IN ['rejected', 'blocked']
      ELSE o.status IN ['approved', 'candidate'] AND o.valid_until IS NULL END
    WITH o, relation ORDER BY coalesce(o.last_confirmed_at, o.valid_from, o.created_at), o.id
    RETURN collect({other: o, reason: relation.reason, source: relation.source, kind: CASE
      WHEN relation.kind = 'echo' THEN 'unclear' WHEN o.reviewed_by IS NOT NULL AND relation.kind IN ['wins', 'changed'] THEN 'human' ELSE relation.kind END}) AS found
  }
  WITH l, since, found, [f IN found | f.kind] AS kinds, CASE
    WHEN decision.corroborated = 'sessions' AND l.support_count >= 2 AND COUNT { MATCH (l)-[q:EVIDENCED_BY]->(e) WHERE q.origin IN ['user_typed', 'user_pasted', 'assistant_clean'] RETURN DISTINCT e.session_id } >= 2 THEN 'approved'
    WHEN decision.corroborated = 'typed' AND l.support_count >= 2 AND COUNT { MATCH (l)-[q:EVIDENCED_BY]->(e) WHERE q.origin = 'user_typed' RETURN DISTINCT e.session_id } >= 2 THEN 'approved'
    ELSE decision.ceiling END AS allowed
  WITH l, since, found, kinds, allowed, CASE WHEN 'vetoed' IN kinds OR 'refused' IN kinds THEN 'rejected' WHEN 'restates' IN kinds THEN 'already_learned'
    WHEN allowed <> 'approved' THEN allowed WHEN 'human' IN kinds THEN 'candidate'
    WHEN 'wins' IN kinds OR 'changed' IN kinds OR 'outdated' IN kinds THEN 'approved'
    WHEN 'unclear' IN kinds THEN 'candidate' ELSE 'approved' END AS to
  WITH l, since, found, kinds, allowed, to, CASE to WHEN 'rejected' THEN 'vetoed' WHEN 'already_learned' THEN to
    WHEN 'approved' THEN CASE WHEN 'wins' IN kinds OR 'changed' IN kinds THEN 'superseded_conflicts' ELSE 'clean' END
    ELSE CASE WHEN 'human' IN kinds OR 'unclear' IN kinds THEN 'ambiguous' ELSE l.consistency_status END END AS found_to_be
  WITH l, since, found, allowed, to, found_to_be, head([f IN found WHERE f.kind IN ['vetoed', 'refused', 'restates']]) AS against,
    CASE to WHEN 'approved' THEN head([f IN found WHERE f.kind = 'outdated' | f.other]) END AS next,
    l.status IN ['candidate', 'quarantined'] AND l.reviewed_by IS NULL AND l.valid_until IS NULL AND
    (l.status <> to OR l.decision_count = 0 OR l.safety_status IS NULL OR coalesce(l.consistency_status, '') <> coalesce(found_to_be, '')) AS changed,
    l.status IN ['approved', 'candidate', 'quarantined'] AND l.valid_until IS NULL AND decision.origin = 'user_typed' AS again
  FOREACH (_ IN CASE WHEN again OR changed AND to = 'approved' THEN [1] ELSE [] END |
    SET l.last_confirmed_at = CASE WHEN l.last_confirmed_at > since THEN l.last_confirmed_at ELSE since END)
  FOREACH (_ IN CASE WHEN changed THEN [1] ELSE [] END |
    SET l.status = to, l.decision_count = l.decision_count + 1, l.origin = decision.origin, l.valid_from = coalesce(l.valid_from, since),
      l.safety_status = decision.safety_status, l.safety_checked_at = datetime(decision.at), l.safety_model = decision.safety_model, l.consistency_status = found_to_be, l.consistency_checked_at = datetime(decision.at), l.consistency_model = decision.model,
      l.wait_reason = CASE WHEN to IN ['candidate', 'quarantined'] THEN coalesce(head([f IN found WHERE f.kind IN ['human', 'unclear'] | f.reason]), decision.reason) END,
      l.valid_until = CASE WHEN next.valid_from > since THEN next.valid_from WHEN next IS NOT NULL THEN since END, l.live = to IN ['approved', 'candidate'], l.injectable = to = 'approved' AND decision.safety_status = 'passed' AND next IS NULL,
      l.rejected_reason = CASE to WHEN 'rejected' THEN CASE against.kind WHEN 'refused' THEN 'restates_refused:' ELSE 'vetoed_by:' END + against.other.id END,
      l.rejected_at = CASE to WHEN 'rejected' THEN datetime(decision.at) END,
      l.already_learned_from = CASE to WHEN 'already_learned' THEN against.other.id END, l.already_learned_at = CASE to WHEN 'already_learned' THEN datetime(decision.at) END,
      l.embedding = CASE WHEN to IN ['rejected', 'already_learned', 'blocked'] THEN null ELSE l.embedding END, l.embedding_model = CASE WHEN to IN ['rejected', 'already_learned', 'blocked'] THEN null ELSE l.embedding_model END
    CREATE (d:GateDecision {id: l.id + ':d' + toString(l.decision_count), learning_id: l.id, decision_no: l.decision_count, to: to, by: decision.by,
      rule: CASE WHEN allowed <> decision.ceiling THEN 'corroborated' ELSE decision.rule END, reason: coalesce(CASE WHEN to IN ['candidate', 'quarantined'] THEN head([f IN found WHERE f.kind IN ['human', 'unclear'] | f.reason]) END, decision.reason),
      neighbours: decision.neighbours, model: decision.model, prompt: decision.prompt, at: datetime(decision.at)})-[:DECIDED]->(l))
  FOREACH (f IN CASE WHEN changed THEN found ELSE [] END |
    FOREACH (o IN CASE WHEN to = 'approved' AND f.kind IN ['wins', 'changed'] THEN [f.other] ELSE [] END |
      MERGE (l)-[s:SUPERSEDES]->(o) SET s += {reason: f.reason, source: f.source, confirmed: f.kind = 'wins', at: since}, o.injectable = false, o.valid_until = since)
    FOREACH (o IN CASE WHEN to = 'approved' AND f.kind = 'wins' THEN [f.other] ELSE [] END |
      SET o.status = 'rejected', o.live = false, o.embedding = null, o.embedding_model = null, o.rejected_reason = 'superseded_by:' + l.id, o.rejected_at = datetime(decision.at))
    FOREACH (o IN CASE WHEN to = 'approved' AND f.kind = 'similar' THEN [f.other] ELSE [] END | MERGE (l)-[s:SIMILAR_TO]->(o) SET s += {reason: f.reason, source: f.source, value_keys: [l.value_key, o.value_key], at: since})
    FOREACH (o IN CASE WHEN f.kind = 'outdated' AND f.other = next THEN [next] ELSE [] END | MERGE (o)-[s:SUPERSEDES]->(l) SET s += {reason: f.reason, source: f.source, confirmed: false, at: l.valid_until})
    FOREACH (o IN CASE WHEN f.kind IN ['human', 'unclear', 'noted'] THEN [f.other] ELSE [] END | MERGE (l)-[c:CONTRADICTS]->(o) SET c += {reason: f.reason, source: f.source, at: datetime(decision.at)})
    FOREACH (o IN CASE WHEN to = 'rejected' AND f.kind IN ['vetoed', 'refused'] THEN [f.other] ELSE [] END | MERGE (l)-[c:CONTRADICTED_BY]->(o)
      SET c += {reason: f.reason, source: f.source, at: datetime(decision.at)}, o.reproposed_count = coalesce(o.reproposed_count, 0) + CASE f.kind WHEN 'refused' THEN 1 ELSE 0 END)
    FOREACH (o IN CASE WHEN to = 'already_learned' AND f.kind = 'restates' THEN [f.other] ELSE [] END | MERGE (l)-[a:ALREADY_LEARNED_FROM]->(o)
      SET a += {reason: f.reason, at: datetime(decision.at)}, o.support_count = o.support_count + 1, o.last_confirmed_at = CASE WHEN o.last_confirmed_at > since THEN o.last_confirmed_at ELSE since END, o.confidence = CASE WHEN l.confidence > o.confidence THEN l.confidence ELSE o.confidence END))
  RETURN l.status AS status, changed, CASE WHEN changed THEN [f IN found WHERE f.other.status = 'rejected' AND f.kind = 'wins' | f.other.id] + CASE to WHEN 'rejected' THEN [l.id] ELSE [] END ELSE [] END AS rejected
}
RETURN decision.learning_id AS learning_id, status, changed, rejected
