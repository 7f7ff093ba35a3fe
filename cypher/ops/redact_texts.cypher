// @query   ops.redact_texts
// @since   0.2.0
// @mode    write
// @card    one
// @param   label       STRING NOT NULL
// @param   rows        LIST<MAP NOT NULL> NOT NULL  each {ref, was, texts}, the changed properties only
// @return  refs        LIST<STRING NOT NULL> NOT NULL  what was written
// @locks   none
// @allow   DynamicLabel  as in ops.scan_texts
// @why     Only texts change, and only those that are still as they were read: an inner number may by
//          now be another node's, and what was edited meanwhile is read by the next sweep.
UNWIND $rows AS row
MATCH (n:$($label))
WHERE elementId(n) = row.ref AND all(name IN keys(row.was) WHERE n[name] = row.was[name])
SET n += row.texts
RETURN collect(row.ref) AS refs
