// @query   ops.functions
// @since   0.1.0
// @mode    read
// @card    many
// @return  name           STRING NOT NULL
// @return  built_in       BOOLEAN NOT NULL
// @return  aggregating    BOOLEAN NOT NULL
// @return  arguments      LIST<MAP NOT NULL> NOT NULL
// @return  returns        STRING NOT NULL
// @return  deprecated     BOOLEAN NOT NULL
// @return  deprecated_by  STRING
// @locks   none
// @why     What the server offers, as the contract needs it.
SHOW FUNCTIONS
YIELD name, isBuiltIn, aggregating, argumentDescription, returnDescription, isDeprecated, deprecatedBy
RETURN
  name AS name,
  isBuiltIn AS built_in,
  aggregating AS aggregating,
  argumentDescription AS arguments,
  returnDescription AS returns,
  isDeprecated AS deprecated,
  deprecatedBy AS deprecated_by
ORDER BY name
