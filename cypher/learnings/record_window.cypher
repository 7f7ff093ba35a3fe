// @query   learnings.record_window
// @since   0.1.0
// @mode    write
// @card    one
// @param   id          STRING NOT NULL
// @param   session_id  STRING NOT NULL
// @param   project_id  STRING
// @param   user_id     STRING
// @param   event_ids   LIST<STRING NOT NULL> NOT NULL
// @param   produced    LIST<STRING NOT NULL> NOT NULL
// @param   episodes    LIST<STRING NOT NULL> NOT NULL
// @param   revised     LIST<MAP NOT NULL> NOT NULL  each {id, model, demoted}
// @param   facts       MAP NOT NULL    mode, llm_status, extractor, learning_count, refused_count
// @param   at          STRING NOT NULL
// @param   heard       STRING          assistant_local or assistant_tainted, by the tools of these events
// @return  first_time  BOOLEAN NOT NULL
// @locks   (:Session) of every event, exclusive, before its watermark moves
// @index   processing_id, session_event_id, session_id, learning_id, project_id, episode_id
// @why     What was read is marked in the transaction that stores what it yielded: a crash between
//          the two would lose a window or read it twice. What tools have told stays with the session:
//          a later turn's words may repeat it.
MERGE (run:ProjectProcessing {id: $id})
  ON CREATE SET
    run.created_at = datetime($at),
    run.session_id = $session_id,
    run.project_id = $project_id,
    run.user_id = $user_id,
    run.times = 0
SET run += $facts, run.status = 'ok', run.event_count = size($event_ids), run.times = coalesce(run.times, 0) + 1
WITH run
CALL (run) {
  UNWIND $event_ids AS event_id
  MATCH (e:SessionEvent {event_id: event_id})
  MATCH (part:Session {session_id: e.session_id})
  MERGE (run)-[:PROCESSED_EVENT]->(e)
  WITH part, max(e.seq) AS newest
  SET part.processed_seq =
      CASE
        WHEN newest > coalesce(part.processed_seq, 0) THEN newest
        ELSE part.processed_seq
      END
}
CALL () {
  MATCH (whole:Session {session_id: $session_id})
  WHERE $heard IS NOT NULL AND coalesce(whole.heard, '') <> 'assistant_tainted'
  SET whole.heard = $heard
}
CALL (run) {
  UNWIND $produced AS learning_id
  MATCH (l:Learning {id: learning_id})
  MERGE (run)-[:PRODUCED_LEARNING]->(l)
}
CALL (run) {
  UNWIND $episodes AS episode_id
  MATCH (e:Episode {id: episode_id})
  MERGE (run)-[:PRODUCED_OBSERVATION]->(e)
}
CALL (run) {
  UNWIND $revised AS change
  MATCH (l:Learning {id: change.id})
  MERGE (run)-[u:UPDATED_LEARNING]->(l)
  SET u.llm_model = change.model, u.demoted_from_approved = change.demoted
}
CALL (run) {
  UNWIND
    CASE
      WHEN $project_id IS NULL THEN []
      ELSE [$project_id]
    END AS id
  MATCH (p:Project {id: id})
  MERGE (p)-[:HAS_PROCESSING]->(run)
}
RETURN run.times = 1 AS first_time
