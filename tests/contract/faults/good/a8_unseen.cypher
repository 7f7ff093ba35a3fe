// @query   good.a8_unseen
// @since   0.1.0
// @mode    write
// @card    one
// @param   id     STRING NOT NULL
// @param   facts  MAP NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Toy {id: $id})
SET t += $facts
RETURN $id AS id
