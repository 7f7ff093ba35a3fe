// @query   bad.a8_unseen
// @since   0.1.0
// @mode    write
// @card    one
// @param   id     STRING NOT NULL
// @param   facts  MAP NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Toy {id: $id})
WITH t AS it
SET it += $facts
RETURN $id AS id
