// @query   ops.prove_apoc
// @since   0.1.0
// @mode    read
// @card    one
// @param   text     STRING NOT NULL
// @return  version  STRING NOT NULL
// @return  digest   STRING NOT NULL    the caller knows it
// @locks   none
// @uses    apoc.version, apoc.util.sha256
RETURN apoc.version() AS version, apoc.util.sha256([$text]) AS digest
