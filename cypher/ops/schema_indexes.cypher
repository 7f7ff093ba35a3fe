// @query   ops.schema_indexes
// @since   0.1.0
// @mode    read
// @card    many
// @return  name        STRING NOT NULL
// @return  type        STRING NOT NULL
// @return  state       STRING NOT NULL
// @return  labels      LIST<STRING NOT NULL>
// @return  properties  LIST<STRING NOT NULL>
// @return  options     MAP NOT NULL
// @return  failure     STRING NOT NULL
// @locks   none
SHOW INDEXES
YIELD name, type, state, labelsOrTypes, properties, options, failureMessage
RETURN
  name AS name,
  type AS type,
  state AS state,
  labelsOrTypes AS labels,
  properties AS properties,
  options AS options,
  failureMessage AS failure
ORDER BY name
