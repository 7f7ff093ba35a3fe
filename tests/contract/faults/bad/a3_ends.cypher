// @query   bad.a3_ends
// @since   0.1.0
// @mode    read
// @card    many
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Toy)<-[:STANDS_ON]-(:Shelf)
RETURN t.id AS id
