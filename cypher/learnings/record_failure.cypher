// @query   learnings.record_failure
// @since   0.1.0
// @mode    write
// @card    one
// @param   id          STRING NOT NULL
// @param   session_id  STRING NOT NULL
// @param   project_id  STRING
// @param   user_id     STRING
// @param   reason      STRING NOT NULL    holds no text of the window
// @param   reached     BOOLEAN NOT NULL   a model answered, only not in a form of use
// @param   most        INTEGER NOT NULL   how often that may be before its window is given up
// @param   patience    STRING NOT NULL    who was out of reach since before this is given up too
// @param   at          STRING NOT NULL
// @return  attempts    INTEGER NOT NULL
// @return  given_up    BOOLEAN NOT NULL
// @locks   (:ProjectProcessing), exclusive, through MERGE under its constraint
// @index   processing_id
// @why     The window's events are not marked, so that it is read again. An outage gives nothing up
//          for days, however often it is tried; a window that no model can read must not stop the
//          rest of its session.
MERGE (run:ProjectProcessing {id: $id})
  ON CREATE SET
    run.created_at = datetime($at),
    run.session_id = $session_id,
    run.project_id = $project_id,
    run.user_id = $user_id,
    run.mode = 'turn',
    run.first_error_at = datetime($at),
    run.attempt_count = 0,
    run.answered_count = 0,
    run.times = 0
SET
  run.status = 'error',
  run.llm_status = 'error',
  run.llm_error = $reason,
  run.last_error_at = datetime($at),
  run.attempt_count = coalesce(run.attempt_count, 0) + 1,
  run.answered_count = coalesce(run.answered_count, 0) +
    CASE
      WHEN $reached THEN 1
      ELSE 0
    END
RETURN
  run.attempt_count AS attempts,
  run.answered_count >= $most OR
  (run.attempt_count >= $most AND coalesce(run.first_error_at, datetime($at)) < datetime($patience)) AS given_up
