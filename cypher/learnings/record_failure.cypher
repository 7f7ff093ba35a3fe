// @query   learnings.record_failure
// @since   0.1.0
// @mode    write
// @card    one
// @param   id          STRING NOT NULL
// @param   session_id  STRING NOT NULL
// @param   project_id  STRING
// @param   user_id     STRING
// @param   reason      STRING NOT NULL    holds no text of the window
// @param   at          STRING NOT NULL
// @return  attempts    INTEGER NOT NULL
// @locks   (:ProjectProcessing), exclusive, through MERGE under its constraint
// @index   processing_id
// @why     The window's events are not marked, so that it is read again; the count says how often.
MERGE (run:ProjectProcessing {id: $id})
  ON CREATE SET
    run.created_at = datetime($at),
    run.session_id = $session_id,
    run.project_id = $project_id,
    run.user_id = $user_id,
    run.mode = 'turn',
    run.first_error_at = datetime($at),
    run.attempt_count = 0,
    run.times = 0
SET
  run.status = 'error',
  run.llm_status = 'error',
  run.llm_error = $reason,
  run.last_error_at = datetime($at),
  run.attempt_count = coalesce(run.attempt_count, 0) + 1
RETURN run.attempt_count AS attempts
