// @query   ops.prove_vector
// @since   0.1.0
// @mode    read
// @card    one
// @param   vector  LIST<FLOAT NOT NULL> NOT NULL
// @return  hits    INTEGER NOT NULL
// @locks   none
// @index   project_learning_vector
// @why     An empty memory gives no hit and proves the search as well: a missing index is an error.
MATCH (l:Learning)
  SEARCH l IN (
    VECTOR INDEX project_learning_vector
    FOR $vector
    LIMIT 1
  )
RETURN count(l) AS hits
