// @query   good.b7_unnamed
// @since   0.1.0
// @mode    read
// @card    many
// @param   id     STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
// @uses    apoc.text.join
RETURN apoc.text.join([$id], $id) AS id
