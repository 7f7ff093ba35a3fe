// @query   good.a3_written
// @since   0.1.0
// @mode    write
// @card    one
// @return  id     STRING NOT NULL
// @locks   none
CREATE (t:Toy {id: '1', owner: 'ann'})
RETURN t.id AS id
