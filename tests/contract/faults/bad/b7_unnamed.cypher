// @query   bad.b7_unnamed
// @since   0.1.0
// @mode    read
// @card    many
// @param   id     STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
RETURN apoc.text.join([$id], $id) AS id
