// @query   forget.unlink
// @since   0.2.0
// @mode    write
// @card    one
// @param   id          STRING NOT NULL
// @param   limit       INTEGER NOT NULL  the same as of the removal in this transaction
// @return  unlinked    INTEGER NOT NULL
// @locks   (:Forgetting), exclusive, before its marks are read, then (:Learning)
// @index   forgetting_id
// @allow   NodeByLabelScan  decisions that name it as a neighbour are few and have no index
// @why     Chains of values close over the gap; what it had replaced stays closed, because a newer
//          value that is forgotten does not make the old one true again.
MATCH (f:Forgetting {id: $id})
SET f.touched = $id
WITH f
MATCH (f)-[:FORGETS]->(l:Learning)
WITH l
ORDER BY l.id ASC
LIMIT $limit
SET l.touched = $id
CALL (l) {
  MATCH (l)-[:SUPERSEDES]->(old:Learning)
  OPTIONAL MATCH (new:Learning)-[r:SUPERSEDES]->(l)
  SET
    old.rejected_reason =
      CASE old.rejected_reason
        WHEN 'superseded_by:' + l.id THEN coalesce('superseded_by:' + new.id, 'superseded')
        ELSE old.rejected_reason
      END
  WITH old, new, r
  WHERE new IS NOT NULL
  MERGE (new)-[x:SUPERSEDES]->(old)
    ON CREATE SET x.reason = 'mended', x.source = r.source, x.confirmed = r.confirmed, x.at = r.at
}
CALL (l) {
  MATCH (same:Learning)-[:ALREADY_LEARNED_FROM]->(l)
  WHERE same.status = 'already_learned'
  SET same.status = 'candidate', same.live = true, same.injectable = false, same.already_learned_from = null
}
CALL (l) {
  MATCH (d:GateDecision)
  WHERE l.id IN d.neighbours
  SET d.neighbours = [n IN d.neighbours WHERE n <> l.id]
}
RETURN count(l) AS unlinked
