// @query   timeline.append
// @since   0.1.0
// @mode    write
// @card    many
// @param   events      LIST<MAP NOT NULL> NOT NULL  each {event_key, natural_key, session_id, at, client, agent, project_id, project_name, user_id, user_source, data}, in order
// @return  event_id    STRING NOT NULL
// @return  session_id  STRING NOT NULL
// @return  seq         INTEGER NOT NULL
// @locks   (:Session), exclusive, before its tail and its twins are read
// @index   session_id, session_event_id, session_event_seq, session_event_key, project_id, user_id
// @allow   Layout  one value a line would double its length
// @why     A second registration of a hook repeats an event within two seconds: it is stored once.
//          An event with a natural key is one event for ever. The tail pointer keeps the cost of an
//          append the same at any length of the session.
UNWIND $events AS event
CALL (event) {
  MERGE (session:Session {session_id: event.session_id})
    ON CREATE SET session.created_at = datetime(event.at), session.event_count = 0, session.epoch = 0,
      session.client = event.client, session.project_id = event.project_id, session.user_id = event.user_id,
      session += event.agent
  SET session.touched = event.event_key
  WITH session
  WHERE NOT EXISTS {
    MATCH (twin:SessionEvent {event_key: event.event_key})
    WHERE event.natural_key OR abs(twin.timestamp.epochMillis - datetime(event.at).epochMillis) <= 2000
  }
  OPTIONAL MATCH (session)-[pointer:LATEST_EVENT]->(before:SessionEvent)
  SET session.event_count = session.event_count + 1, session.last_event_at = datetime(event.at),
    session.ended_at = CASE event.data.event_name WHEN 'SessionEnd' THEN datetime(event.at) END,
    session.epoch = session.epoch + CASE
      WHEN event.data.event_name = 'SessionStart' AND event.data.source IN ['clear', 'compact'] THEN 1 ELSE 0 END
  CREATE (stored:SessionEvent {
    event_id: event.event_key + CASE WHEN event.natural_key THEN '' ELSE '@' + event.at END,
    event_key: event.event_key, session_id: event.session_id, client: event.client,
    seq: session.event_count, timestamp: datetime(event.at), project_id: session.project_id})
  SET stored += event.data
  CREATE (session)-[:HAS_EVENT]->(stored)
  CREATE (session)-[:LATEST_EVENT]->(stored)
  DELETE pointer
  FOREACH (b IN CASE WHEN before IS NULL THEN [] ELSE [before] END | CREATE (b)-[:NEXT]->(stored))
  FOREACH (_ IN CASE WHEN before IS NULL THEN [1] ELSE [] END | CREATE (session)-[:FIRST_EVENT]->(stored))
  FOREACH (_ IN CASE WHEN before IS NULL AND event.project_id IS NOT NULL THEN [1] ELSE [] END |
    MERGE (project:Project {id: event.project_id})
      ON CREATE SET project.created_at = datetime(event.at), project.name = event.project_name, project.status = 'active'
    SET project.last_activity_at = datetime(event.at)
    MERGE (project)-[:HAS_SESSION]->(session))
  FOREACH (_ IN CASE WHEN before IS NULL THEN [1] ELSE [] END |
    MERGE (user:User {id: event.user_id})
      ON CREATE SET user.created_at = datetime(event.at), user.source = event.user_source
    SET user.last_seen_at = datetime(event.at)
    MERGE (user)-[:HAS_SESSION]->(session))
  FOREACH (parent IN CASE WHEN before IS NULL AND session.parent_session_id IS NOT NULL
      THEN [session.parent_session_id] ELSE [] END |
    MERGE (main:Session {session_id: parent})
      ON CREATE SET main.created_at = datetime(event.at), main.event_count = 0, main.epoch = 0,
        main.client = event.client, main.project_id = event.project_id, main.user_id = event.user_id
    MERGE (main)-[:HAS_SUBAGENT]->(session))
  RETURN stored.event_id AS event_id, stored.seq AS seq
}
RETURN event_id, event.session_id AS session_id, seq
