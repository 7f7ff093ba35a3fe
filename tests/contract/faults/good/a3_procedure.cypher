// @query   good.a3_procedure
// @since   0.1.0
// @mode    read
// @card    many
// @return  id     STRING NOT NULL
// @locks   none
CALL db.index.fulltext.queryNodes('x', 'y') YIELD node AS t
RETURN t.id AS id
