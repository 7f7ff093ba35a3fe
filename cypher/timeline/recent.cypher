// @query   timeline.recent
// @since   0.1.0
// @mode    read
// @card    many
// @param   project_id  STRING NOT NULL
// @param   without_session  STRING     the session that asks
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  type        STRING NOT NULL
// @return  title       STRING NOT NULL
// @return  facts       LIST<STRING NOT NULL> NOT NULL
// @return  narrative   STRING NOT NULL
// @return  user_id     STRING
// @return  session_id  STRING NOT NULL
// @return  injectable  BOOLEAN NOT NULL
// @return  ended_at    ZONED DATETIME NOT NULL
// @locks   none
// @index   episode_timeline
// @why     The range index gives the newest first without reading the project's whole timeline.
MATCH (e:Episode)
WHERE
  e.project_id = $project_id AND
  e.ended_at IS NOT NULL AND
  ($without_session IS NULL OR e.session_id <> $without_session)
WITH e
ORDER BY e.project_id DESC, e.ended_at DESC, e.id ASC
LIMIT $limit
RETURN
  e.id AS id,
  e.type AS type,
  e.title AS title,
  e.facts AS facts,
  e.narrative AS narrative,
  e.user_id AS user_id,
  e.session_id AS session_id,
  coalesce(e.injectable, false) AS injectable,
  e.ended_at AS ended_at
