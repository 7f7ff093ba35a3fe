// @query   ops.model_usage
// @since   0.1.0
// @mode    read
// @card    many
// @param   since       STRING NOT NULL    a day
// @return  day         STRING NOT NULL
// @return  task        STRING NOT NULL
// @return  model       STRING NOT NULL
// @return  calls       INTEGER NOT NULL
// @return  failed      INTEGER NOT NULL
// @return  input_tokens  INTEGER NOT NULL
// @return  output_tokens  INTEGER NOT NULL
// @return  cost_usd    FLOAT NOT NULL
// @return  reserved    INTEGER NOT NULL
// @return  reserved_usd  FLOAT NOT NULL
// @locks   none
// @index   model_usage_day
// @why     The total of a day stands first, with a star for task and model.
MATCH (u:ModelUsage)
WHERE u.day >= $since
RETURN
  u.day AS day,
  u.task AS task,
  u.model AS model,
  u.calls AS calls,
  u.failed AS failed,
  u.input_tokens AS input_tokens,
  u.output_tokens AS output_tokens,
  u.cost_usd AS cost_usd,
  u.reserved AS reserved,
  coalesce(u.reserved_usd, 0.0) AS reserved_usd
ORDER BY day DESC, task, model
