// @query   forget.drop_episodes
// @since   0.2.0
// @mode    write
// @card    one
// @param   ids         LIST<STRING NOT NULL> NOT NULL
// @param   session_id  STRING              also the episodes of this session
// @param   composed    BOOLEAN NOT NULL  also the one that code composed, not only those of a model
// @return  dropped     INTEGER NOT NULL
// @locks   (:Project) of each episode, exclusive, before its newest one is read
// @index   episode_id, project_id, session_id
// @why     The chain closes over the gap and the project's pointer moves to the one before, under the
//          lock that a new episode takes as well. A speaker who says nothing any more goes.
CALL () {
  UNWIND $ids AS id
  MATCH (e:Episode {id: id})
  RETURN e
    UNION
  MATCH (e:Episode)-[:FROM_SESSION]->(:Session {session_id: $session_id})
  WHERE coalesce(e.source, '') <> 'import' AND ($composed OR e.source = 'model')
  RETURN e
}
WITH e
ORDER BY e.ended_at ASC, e.id ASC
CALL (e) {
  MATCH (project:Project {id: e.project_id})
  SET project.touched = e.id
  WITH project
  OPTIONAL MATCH (before:Episode)-[:NEXT]->(e)
  OPTIONAL MATCH (e)-[:NEXT]->(after:Episode)
  OPTIONAL MATCH (project)-[pointer:LATEST_OBSERVATION]->(e)
  WITH project, before, after, pointer
  LIMIT 1
  CALL (before, after) {
    WITH before, after
    WHERE before IS NOT NULL AND after IS NOT NULL
    MERGE (before)-[:NEXT]->(after)
  }
  CALL (project, before, pointer) {
    WITH project, before
    WHERE before IS NOT NULL AND pointer IS NOT NULL
    MERGE (project)-[:LATEST_OBSERVATION]->(before)
  }
}
CALL (e) {
  MATCH (e)-[:SPOKEN_BY]->(speaker:Speaker)
  WHERE COUNT { (:Episode)-[:SPOKEN_BY]->(speaker) } = 1
  DETACH DELETE speaker
}
DETACH DELETE e
RETURN count(*) AS dropped
