// @query   ops.procedures
// @since   0.1.0
// @mode    read
// @card    many
// @return  name           STRING NOT NULL
// @return  mode           STRING NOT NULL
// @return  arguments      LIST<MAP NOT NULL> NOT NULL
// @return  returns        LIST<MAP NOT NULL> NOT NULL
// @return  deprecated     BOOLEAN NOT NULL
// @return  deprecated_by  STRING
// @locks   none
// @why     What the server offers, as the contract needs it: which procedure only reads, and how
//          each is called.
SHOW PROCEDURES
YIELD name, mode, argumentDescription, returnDescription, isDeprecated, deprecatedBy
RETURN
  name AS name,
  mode AS mode,
  argumentDescription AS arguments,
  returnDescription AS returns,
  isDeprecated AS deprecated,
  deprecatedBy AS deprecated_by
ORDER BY name
