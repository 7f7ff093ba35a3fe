// @query   bad.a3_type
// @since   0.1.0
// @mode    read
// @card    many
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Toy)-[:STAND_ON]->(:Shelf)
RETURN t.id AS id
