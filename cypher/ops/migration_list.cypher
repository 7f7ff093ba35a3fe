// @query   ops.migration_list
// @since   0.1.0
// @mode    read
// @card    many
// @return  id           STRING NOT NULL
// @return  seq          INTEGER             null for a repeatable file, which stands outside the chain
// @return  checksum     STRING NOT NULL
// @return  state        STRING NOT NULL     PENDING, APPLIED, SKIPPED or FAILED
// @return  kind         STRING NOT NULL     schema or data
// @return  applied_at   STRING
// @return  applied_by   STRING
// @return  tool         STRING
// @return  duration_ms  INTEGER
// @return  message      STRING
// @locks   none
// @allow   UnionNodeByLabelsScan  a few dozen records in the life of a store
MATCH (m:MkgMigration|MkgRepeatable)
RETURN
  m.id AS id,
  m.seq AS seq,
  m.checksum AS checksum,
  m.state AS state,
  m.kind AS kind,
  toString(m.applied_at) AS applied_at,
  m.applied_by AS applied_by,
  m.tool AS tool,
  m.duration_ms AS duration_ms,
  m.message AS message
ORDER BY seq, id
