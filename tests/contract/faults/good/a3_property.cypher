// @query   good.a3_property
// @since   0.1.0
// @mode    read
// @card    many
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Toy)
WHERE t.owner = 'ann'
RETURN t.id AS id
