// @query   good.a3_variable
// @since   0.1.0
// @mode    read
// @card    many
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Toy)
RETURN t.id AS id
