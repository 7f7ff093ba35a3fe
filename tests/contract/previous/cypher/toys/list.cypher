// @query   toys.list
// @since   0.0.1
// @mode    read
// @card    many
// @return  id      STRING NOT NULL
// @locks   none
MATCH (t:ContractToy)
RETURN t.id AS id
