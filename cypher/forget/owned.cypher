// @query   forget.owned
// @since   0.2.0
// @mode    read
// @card    many
// @param   owner_key   STRING NOT NULL  project:ID or user:ID
// @param   project_id  STRING           null for a user
// @return  kind        STRING NOT NULL  learning or episode
// @return  id          STRING NOT NULL
// @locks   none
// @index   learning_owner, episode_timeline
// @why     What belongs to a project or a user as a whole, whichever session it came from.
CALL () {
  MATCH (l:Learning)
  WHERE l.owner_key = $owner_key AND l.updated_at IS NOT NULL
  RETURN 'learning' AS kind, l.id AS id
    UNION
  MATCH (e:Episode)
  WHERE e.project_id = $project_id AND e.ended_at IS NOT NULL
  RETURN 'episode' AS kind, e.id AS id
}
RETURN kind, id
ORDER BY kind, id
