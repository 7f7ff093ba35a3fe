// @query   good.b5_everything
// @since   0.1.0
// @mode    read
// @card    many
// @return  id     STRING NOT NULL
// @locks   none
// @allow   AllNodesScan  a test
MATCH (s)
RETURN elementId(s) AS id
