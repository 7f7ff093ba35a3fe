// @query   bad.a3_language
// @since   0.1.0
// @mode    read
// @card    many
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Toy)
RETRUN t.id AS id
