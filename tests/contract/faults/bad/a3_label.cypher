// @query   bad.a3_label
// @since   0.1.0
// @mode    read
// @card    many
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Toi)
RETURN t.id AS id
