// @query   good.a3_parameter
// @since   0.1.0
// @mode    read
// @card    many
// @param   owner  STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Toy {owner: $owner})
RETURN t.id AS id
