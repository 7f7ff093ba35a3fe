// @query   timeline.upsert_episode
// @since   0.1.0
// @mode    write
// @card    maybe
// @param   id          STRING NOT NULL
// @param   session_id  STRING NOT NULL
// @param   project_id  STRING NOT NULL
// @param   started_at  ZONED DATETIME NOT NULL
// @param   ended_at    ZONED DATETIME NOT NULL
// @param   content     MAP NOT NULL     type, title, facts, narrative, terms, safety_status, injectable, user_id, owner_key, owner_token
// @param   embedding   LIST<FLOAT>
// @param   embedding_model  STRING
// @param   erased      INTEGER          as the digest said it; null where the caller has looked
// @return  id          STRING NOT NULL
// @return  created     BOOLEAN NOT NULL
// @locks   (:Project), exclusive, before the latest episode is read
// @index   episode_id, project_id, session_id
// @why     One episode per session, rewritten while the session goes on; only a new one moves the
//          pointer and joins the chain, and it does so under the project's lock, or two sessions
//          that stop together would fork it. No row: events it tells of were erased meanwhile.
MERGE (project:Project {id: $project_id})
  ON CREATE SET project.created_at = $started_at, project.status = 'active'
SET project.touched = $id
WITH project
MATCH (session:Session {session_id: $session_id})
SET session.touched = $id
WITH
  project,
  session,
  reduce(
    times = 0,
    part IN
    COLLECT {
      MATCH (session)-[:HAS_SUBAGENT]->{0,3}(part:Session)
      RETURN coalesce(part.erased, 0)
    } |
      times + part) AS erased
WHERE $erased IS NULL OR erased = $erased
OPTIONAL MATCH (known:Episode {id: $id})
OPTIONAL MATCH (project)-[pointer:LATEST_OBSERVATION]->(before:Episode)
WITH project, session, known IS NULL AS created, pointer, before
MERGE (episode:Episode {id: $id})
  ON CREATE SET episode.created_at = datetime(), episode.scope = 'project', episode.status = 'recorded'
SET
  episode += $content,
  episode.project_id = $project_id,
  episode.session_id = $session_id,
  episode.started_at = $started_at,
  episode.ended_at = $ended_at,
  episode.live = true,
  episode.embedding = $embedding,
  episode.embedding_model = $embedding_model
FOREACH (_ IN
CASE
  WHEN created THEN [1]
  ELSE []
END |
  CREATE (project)-[:HAS_OBSERVATION]->(episode)
  CREATE (episode)-[:FROM_SESSION]->(session)
  CREATE (project)-[:LATEST_OBSERVATION]->(episode)
)
FOREACH (_ IN
CASE
  WHEN created AND pointer IS NOT NULL THEN [1]
  ELSE []
END |
  CREATE (before)-[:NEXT]->(episode)
  DELETE pointer
)
RETURN episode.id AS id, created
