// @query   ops.migration_progress
// @since   0.1.0
// @mode    read
// @card    maybe
// @param   id         STRING NOT NULL
// @return  done       INTEGER NOT NULL   statements of the file that are behind it
// @return  done_hash  STRING             of their text
// @return  watermark  STRING             JSON: the last key of the batch that is under way
// @return  predicted  STRING             JSON: the counts foretold before the first write
// @locks   none
// @index   mkg_migration_id, mkg_repeatable_id
MATCH (m:MkgMigration|MkgRepeatable)
WHERE m.id = $id
RETURN coalesce(m.done, 0) AS done, m.done_hash AS done_hash, m.watermark AS watermark, m.predicted AS predicted
