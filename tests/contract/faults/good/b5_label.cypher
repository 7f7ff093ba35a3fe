// @query   good.b5_label
// @since   0.1.0
// @mode    read
// @card    many
// @return  id     STRING NOT NULL
// @locks   none
// @allow   NodeByLabelScan  a test
MATCH (s:Session)
RETURN elementId(s) AS id
