// @query   forget.indexed
// @since   0.2.0
// @mode    read
// @card    one
// @param   lucene      STRING NOT NULL  the words of the text as one phrase
// @return  hits        INTEGER NOT NULL
// @locks   none
// @index   project_learning_fulltext, project_observation_fulltext
// @uses    db.index.fulltext.queryNodes
// @why     What the indexes of words find, whoever owns it.
CALL () {
  CALL db.index.fulltext.queryNodes('project_learning_fulltext', $lucene, {limit: 100}) YIELD node
  RETURN node
    UNION
  CALL db.index.fulltext.queryNodes('project_observation_fulltext', $lucene, {limit: 100}) YIELD node
  RETURN node
}
RETURN count(node) AS hits
