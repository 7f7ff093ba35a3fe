// @query   bad.a8_computed
// @since   0.1.0
// @mode    write
// @card    one
// @param   id     STRING NOT NULL
// @param   label  STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Toy {id: $id})
SET t: $ ($label)
RETURN t.id AS id
