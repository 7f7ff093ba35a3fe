// @query   bad.a3_parameter
// @since   0.1.0
// @mode    read
// @card    many
// @param   owner  STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Toy {owner: $ower})
RETURN t.id AS id
