// @query   bad.a6_scalar
// @since   0.1.0
// @mode    read
// @card    one
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Toy)
RETURN count(t) AS id
