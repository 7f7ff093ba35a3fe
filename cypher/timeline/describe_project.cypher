// @query   timeline.describe_project
// @since   0.1.0
// @mode    read
// @card    maybe
// @param   project_id  STRING NOT NULL
// @return  id          STRING NOT NULL
// @return  name        STRING
// @return  status      STRING
// @return  last_activity_at  ZONED DATETIME
// @locks   none
// @index   project_id
MATCH (p:Project {id: $project_id})
RETURN p.id AS id, p.name AS name, p.status AS status, p.last_activity_at AS last_activity_at
