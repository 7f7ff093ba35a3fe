// @query   timeline.before
// @since   0.1.0
// @mode    read
// @card    many
// @param   project_id  STRING NOT NULL
// @param   episode_id  STRING NOT NULL
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
// @index   episode_id, episode_timeline
// @why     Strictly older by (ended_at, id), so that paging neither skips nor repeats. LIMIT 1 keeps
//          the planner of an empty store from looking the cursor up once an episode.
MATCH (cursor:Episode {id: $episode_id})
WHERE cursor.project_id = $project_id
WITH cursor
LIMIT 1
MATCH (e:Episode)
WHERE
  e.project_id = $project_id AND e.ended_at <= cursor.ended_at AND (e.ended_at < cursor.ended_at OR e.id > cursor.id)
WITH e
ORDER BY e.ended_at DESC, e.id ASC
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
