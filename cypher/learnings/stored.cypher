// @query   learnings.stored
// @since   0.1.0
// @mode    read
// @card    maybe
// @param   id          STRING NOT NULL
// @return  id          STRING NOT NULL
// @return  text        STRING NOT NULL
// @return  status      STRING NOT NULL
// @return  scope       STRING NOT NULL
// @return  user_id     STRING
// @return  confidence  FLOAT NOT NULL
// @return  task_pattern  STRING
// @return  kind        STRING NOT NULL
// @return  tool_key    STRING
// @return  error_signature  STRING
// @return  resolved    BOOLEAN
// @return  support_count  INTEGER NOT NULL
// @return  origin      STRING NOT NULL
// @return  reason      STRING    why it waits or was refused
// @locks   none
// @index   learning_id
// @why     What a writer is told must be what is stored: an equal value keeps its first wording, its
//          highest confidence and its decisions.
MATCH (l:Learning {id: $id})
RETURN
  l.id AS id,
  l.text AS text,
  l.status AS status,
  l.scope AS scope,
  l.user_id AS user_id,
  l.confidence AS confidence,
  l.task_pattern AS task_pattern,
  l.kind AS kind,
  l.tool_key AS tool_key,
  l.error_signature AS error_signature,
  l.resolved AS resolved,
  l.support_count AS support_count,
  l.origin AS origin,
  coalesce(l.rejected_reason, l.wait_reason) AS reason
