// @query   timeline.headlines
// @since   0.1.0
// @mode    read
// @card    many
// @param   project_id  STRING NOT NULL
// @param   without_session  STRING     the session that asks
// @param   pool        INTEGER NOT NULL   how many of the newest episodes are looked at
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  type        STRING NOT NULL
// @return  title       STRING NOT NULL
// @return  ended_at    ZONED DATETIME NOT NULL
// @locks   none
// @index   episode_timeline
// @why     A start has room for a few lines: one a session, a model's where its words may be told,
//          else what code composed. What may not be told is left out before the newest are chosen.
MATCH (e:Episode)
WHERE
  e.project_id = $project_id AND
  e.ended_at IS NOT NULL AND
  ($without_session IS NULL OR e.session_id <> $without_session)
WITH e
ORDER BY e.project_id DESC, e.ended_at DESC, e.id ASC
LIMIT $pool
WITH e
WHERE e.injectable
ORDER BY e.ended_at DESC, e.id ASC
WITH e.session_id AS session_id, collect(e) AS told
WITH coalesce([e IN told WHERE e.source = 'model'][0], told[0]) AS e, told[0].ended_at AS last
RETURN e.id AS id, e.type AS type, e.title AS title, e.ended_at AS ended_at
ORDER BY last DESC, id ASC
LIMIT $limit
