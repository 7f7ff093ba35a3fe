// @query   forget.leave
// @since   0.2.0
// @mode    write
// @card    one
// @param   project_id  STRING
// @param   user_id     STRING
// @return  rest        INTEGER NOT NULL
// @locks   (:Project) and (:User), exclusive, before what hangs on them is read
// @index   project_id, user_id, gate_decision_project, learning_user_id
// @allow   NodeByLabelScan  names of a user stand on decisions and verdicts that have no index for it
// @why     What is left of a project or a user once sessions, events, episodes and learnings are gone.
//          A project that an event has just come for stays, without its past.
CALL () {
  MATCH (p:Project {id: $project_id})
  SET p.touched = 'forget'
  WITH p
  CALL (p) {
    OPTIONAL MATCH (p)-[:HAS_PROCESSING]->(run:ProjectProcessing)
    DETACH DELETE run
  }
  CALL (p) {
    MATCH (d:GateDecision)
    WHERE d.project_id = p.id AND d.at IS NOT NULL
    DETACH DELETE d
  }
  WITH p
  WHERE COUNT { (p)-[:HAS_SESSION]->() } = 0
  DETACH DELETE p
  RETURN count(*) AS projects
}
CALL () {
  MATCH (u:User {id: $user_id})
  SET u.touched = 'forget'
  WITH u
  CALL (u) {
    MATCH (l:Learning {user_id: u.id})
    SET l.user_id = null
  }
  CALL (u) {
    MATCH (l:Learning)
    WHERE l.last_user_id = u.id OR l.reviewed_by_user_id = u.id
    SET
      l.last_user_id =
        CASE l.last_user_id
          WHEN u.id THEN null
          ELSE l.last_user_id
        END,
      l.reviewed_by_user_id =
        CASE l.reviewed_by_user_id
          WHEN u.id THEN null
          ELSE l.reviewed_by_user_id
        END
  }
  CALL (u) {
    MATCH (d:GateDecision {user_id: u.id})
    SET d.user_id = null
  }
  CALL (u) {
    MATCH (v:Verdict {user_id: u.id})
    SET v.user_id = null
  }
  WITH u
  WHERE COUNT { (u)-[:HAS_SESSION]->() } = 0
  DETACH DELETE u
  RETURN count(*) AS users
}
RETURN projects + users AS rest
