// @query   timeline.fetch_episode
// @since   0.1.0
// @mode    read
// @card    maybe
// @param   episode_id  STRING NOT NULL
// @param   project_id  STRING NOT NULL
// @return  id          STRING NOT NULL
// @return  type        STRING NOT NULL
// @return  title       STRING NOT NULL
// @return  facts       LIST<STRING NOT NULL> NOT NULL
// @return  narrative   STRING NOT NULL
// @return  started_at  ZONED DATETIME NOT NULL
// @return  ended_at    ZONED DATETIME NOT NULL
// @return  session_id  STRING NOT NULL
// @return  user_id     STRING
// @return  safety_status  STRING NOT NULL
// @return  prev_id     STRING
// @return  next_id     STRING
// @return  produced_learnings  LIST<MAP NOT NULL> NOT NULL   {id, text, status, scope}
// @locks   none
// @index   episode_id
// @why     Only the project's own episodes: an id from elsewhere finds nothing. A user's facts are
//          not listed here, they belong to the user and not to the project.
MATCH (e:Episode {id: $episode_id})
WHERE e.project_id = $project_id
RETURN
  e.id AS id,
  e.type AS type,
  e.title AS title,
  e.facts AS facts,
  e.narrative AS narrative,
  e.started_at AS started_at,
  e.ended_at AS ended_at,
  e.session_id AS session_id,
  e.user_id AS user_id,
  coalesce(e.safety_status, 'unscreened') AS safety_status,
  head(
    COLLECT {
      MATCH (p:Episode)-[:NEXT]->(e)
      RETURN p.id
      LIMIT
      1
    }) AS prev_id,
  head(
    COLLECT {
      MATCH (e)-[:NEXT]->(n:Episode)
      RETURN n.id
      LIMIT
      1
    }) AS next_id,
  COLLECT {
    MATCH (e)-[:FROM_SESSION]->(:Session)<-[:FROM_SESSION]-(l:Learning)
    WHERE l.scope = 'project' AND l.status IN ['approved', 'candidate']
    WITH DISTINCT l
    ORDER
    BY
    l.id
    LIMIT
    20
    RETURN {id: l.id, text: left(l.text, 200), status: l.status, scope: l.scope}
  } AS produced_learnings
