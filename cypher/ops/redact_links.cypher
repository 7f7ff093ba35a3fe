// @query   ops.redact_links
// @since   0.2.0
// @mode    write
// @card    one
// @param   type        STRING NOT NULL
// @param   rows        LIST<MAP NOT NULL> NOT NULL  each {ref, was, texts}, the changed properties only
// @return  refs        LIST<STRING NOT NULL> NOT NULL  what was written
// @locks   none
// @allow   DynamicLabel  as in ops.scan_texts
// @why     As ops.redact_texts, for what stands on relationships.
UNWIND $rows AS row
MATCH ()-[r:$($type)]->()
WHERE elementId(r) = row.ref AND all(name IN keys(row.was) WHERE r[name] = row.was[name])
SET r += row.texts
RETURN collect(row.ref) AS refs
