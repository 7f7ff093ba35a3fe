// @query   bad.b7_missing
// @since   0.1.0
// @mode    read
// @card    many
// @param   id     STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
// @index   project_learning_fulltext
// @uses    db.index.fulltext.queryNodes, apoc.does.nothing
CALL db.index.fulltext.queryNodes('project_learning_fulltext', $id) YIELD node AS s
RETURN s.id AS id
