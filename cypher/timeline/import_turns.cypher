// @query   timeline.import_turns
// @since   0.2.0
// @mode    write
// @card    one
// @param   project     MAP NOT NULL     {id, name}
// @param   user_id     STRING NOT NULL  who imports
// @param   turns       LIST<MAP NOT NULL> NOT NULL  in order, each {id, before, session_id, at, speaker, content, embedding}
// @param   embedding_model  STRING
// @return  created     INTEGER NOT NULL
// @return  stored      INTEGER NOT NULL
// @locks   (:Project), exclusive, before the first turn is written
// @index   project_id, user_id, session_id, episode_id, speaker_id
// @why     A dialogue is history: its turns are episodes in their own order, and the project's
//          pointer to what happened last does not move. Importing a file again changes nothing.
MERGE (project:Project {id: $project.id})
  ON CREATE SET project.created_at = datetime(), project.status = 'active', project.name = $project.name
SET project.touched = 'import'
MERGE (user:User {id: $user_id})
  ON CREATE SET user.created_at = datetime(), user.source = 'import'
WITH project, user
UNWIND $turns AS turn
MERGE (session:Session {session_id: turn.session_id})
  ON CREATE SET
    session.client = 'import',
    session.project_id = project.id,
    session.user_id = user.id,
    session.created_at = turn.at,
    session.event_count = 0,
    session.epoch = 0
MERGE (project)-[:HAS_SESSION]->(session)
MERGE (speaker:Speaker {id: turn.speaker.id})
  ON CREATE SET speaker += turn.speaker
MERGE (episode:Episode {id: turn.id})
  ON CREATE SET episode.created_at = datetime(), episode.scope = 'project', episode.status = 'new'
WITH project, user, turn, session, speaker, episode, episode.status = 'new' AS created
SET
  episode += turn.content,
  episode.status = 'recorded',
  episode.project_id = project.id,
  episode.session_id = turn.session_id,
  episode.user_id = user.id,
  episode.started_at = turn.at,
  episode.ended_at = turn.at,
  episode.live = true,
  episode.embedding = turn.embedding,
  episode.embedding_model = $embedding_model
MERGE (project)-[:HAS_OBSERVATION]->(episode)
MERGE (episode)-[:FROM_SESSION]->(session)
MERGE (episode)-[:SPOKEN_BY]->(speaker)
WITH turn.before AS before_id, episode, created
OPTIONAL MATCH (before:Episode {id: before_id})
FOREACH (b IN
CASE
  WHEN before IS NULL THEN []
  ELSE [before]
END |
  MERGE (b)-[:NEXT]->(episode)
)
RETURN sum(
    CASE
      WHEN created THEN 1
      ELSE 0
    END) AS created, count(episode) AS stored
