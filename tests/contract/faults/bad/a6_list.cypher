// @query   bad.a6_list
// @since   0.1.0
// @mode    read
// @card    one
// @return  ids    LIST<INTEGER NOT NULL> NOT NULL
// @locks   none
MATCH (t:Toy)
RETURN collect(toString(t.size)) AS ids
