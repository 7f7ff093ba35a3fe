// @query   ops.server_settings
// @since   0.1.0
// @mode    read
// @card    many
// @param   names       LIST<STRING NOT NULL> NOT NULL
// @return  name        STRING NOT NULL
// @return  value       STRING NOT NULL
// @locks   none
// @why     What is shut in a server is shut by its settings: what it really runs with counts, not
//          what a file says.
SHOW SETTINGS $names
YIELD name, value
RETURN name AS name, value AS value
ORDER BY name
