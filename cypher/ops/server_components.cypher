// @query   ops.server_components
// @since   0.1.0
// @mode    schema
// @card    many
// @return  name     STRING NOT NULL
// @return  version  STRING NOT NULL
// @return  edition  STRING NOT NULL
// @locks   none
// @uses    dbms.components
// @why     It changes nothing, but the planner counts it among the administration commands.
CALL dbms.components() YIELD name, versions, edition
RETURN name AS name, versions[0] AS version, edition AS edition
ORDER BY name
