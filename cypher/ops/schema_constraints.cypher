// @query   ops.schema_constraints
// @since   0.1.0
// @mode    read
// @card    many
// @return  name        STRING NOT NULL
// @return  type        STRING NOT NULL
// @return  labels      LIST<STRING NOT NULL>
// @return  properties  LIST<STRING NOT NULL>
// @locks   none
SHOW CONSTRAINTS
YIELD name, type, labelsOrTypes, properties
RETURN name AS name, type AS type, labelsOrTypes AS labels, properties AS properties
ORDER BY name
