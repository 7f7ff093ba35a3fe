// @query   ops.prove_fulltext
// @since   0.1.0
// @mode    read
// @card    one
// @param   text  STRING NOT NULL    one plain word
// @return  hits  INTEGER NOT NULL
// @locks   none
// @index   project_learning_fulltext
// @uses    db.index.fulltext.queryNodes
CALL db.index.fulltext.queryNodes('project_learning_fulltext', $text, {limit: 1}) YIELD node
RETURN count(node) AS hits
