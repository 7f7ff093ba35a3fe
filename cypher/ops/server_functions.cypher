// @query   ops.server_functions
// @since   0.1.0
// @mode    read
// @card    many
// @param   names  LIST<STRING NOT NULL> NOT NULL
// @return  name   STRING NOT NULL
// @locks   none
SHOW FUNCTIONS
YIELD name
WHERE name IN $names
RETURN name AS name
ORDER BY name
