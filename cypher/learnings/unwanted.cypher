// @query   learnings.unwanted
// @since   0.2.0
// @mode    read
// @card    many
// @param   project_id  STRING NOT NULL
// @return  id          STRING NOT NULL
// @locks   none
// @index   project_id
// @why     What a person did not want to be told in this project, while that holds.
MATCH (:Project {id: $project_id})<-[n:NOT_HERE]-(l:Learning)
WHERE n.until IS NULL OR n.until > datetime()
RETURN l.id AS id
ORDER BY id ASC
LIMIT 500
