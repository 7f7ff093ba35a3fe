// @query   bad.a8_change
// @since   0.1.0
// @mode    write
// @card    one
// @param   id     STRING NOT NULL
// @param   facts  MAP NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Shelf {id: $id})
SET t += $facts
RETURN t.id AS id
