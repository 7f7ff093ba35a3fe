// @query   bad.a8_type
// @since   0.1.0
// @mode    write
// @card    one
// @param   id     STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Toy {id: $id})
MATCH (s:Shelf {id: $id})
MERGE (t)-[:STANDS_ON]->(s)
RETURN t.id AS id
