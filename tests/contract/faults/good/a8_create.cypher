// @query   good.a8_create
// @since   0.1.0
// @mode    write
// @card    one
// @param   id     STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
MERGE (t:Shelf {id: $id})
RETURN t.id AS id
