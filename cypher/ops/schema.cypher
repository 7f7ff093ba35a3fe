// @query   ops.schema
// @since   0.1.0
// @mode    read
// @card    many
// @param   labels      LIST<STRING NOT NULL> NOT NULL  of model.toml
// @param   types       LIST<STRING NOT NULL> NOT NULL  relationship types of model.toml
// @return  kind        STRING NOT NULL     label or type
// @return  name        STRING NOT NULL
// @return  total       INTEGER NOT NULL
// @locks   none
// @why     The names come from the model, so a store that is shared with other data tells nothing of it.
CALL () {
  UNWIND $labels AS label
  CALL (label) {
    MATCH (n:$(label))
    RETURN count(n) AS total
  }
  RETURN 'label' AS kind, label AS name, total
    UNION ALL
  UNWIND $types AS type
  CALL (type) {
    MATCH ()-[r:$(type)]->()
    RETURN count(r) AS total
  }
  RETURN 'type' AS kind, type AS name, total
}
RETURN kind, name, total
ORDER BY kind, name
