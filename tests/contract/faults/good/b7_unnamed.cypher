// @query   good.b7_unnamed
// @since   0.1.0
// @mode    read
// @card    many
// @param   id     STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
// @uses    gds.version
CALL gds.version() YIELD gdsVersion
RETURN gdsVersion + $id AS id
