// @query   good.a8_delete
// @since   0.1.0
// @mode    write
// @card    maybe
// @param   id     STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Shelf {id: $id})
DETACH DELETE t
RETURN $id AS id
