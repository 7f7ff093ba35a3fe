// @query   good.a6_scalar
// @since   0.1.0
// @mode    read
// @card    one
// @return  id     INTEGER NOT NULL
// @locks   none
MATCH (t:Toy)
RETURN count(t) AS id
