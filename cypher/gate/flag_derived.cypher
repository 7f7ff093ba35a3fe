// @query   gate.flag_derived
// @since   0.2.0
// @mode    write
// @card    one
// @param   ids         LIST<STRING NOT NULL> NOT NULL  learnings that are believed no more
// @param   reason      STRING NOT NULL
// @return  flagged     INTEGER NOT NULL
// @locks   (:Learning), exclusive, by the write itself
// @index   learning_id
// @why     What was made from a belief is looked at again when the belief ends, on every path to its
//          end. Whatever is derived in other ways joins the pattern here.
UNWIND $ids AS id
MATCH (:Learning {id: id})<-[:ALREADY_LEARNED_FROM]-(derived:Learning)
SET derived.needs_revision = true, derived.revision_reason = $reason
RETURN count(DISTINCT derived) AS flagged
