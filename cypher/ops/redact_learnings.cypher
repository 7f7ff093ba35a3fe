// @query   ops.redact_learnings
// @since   0.1.0
// @mode    write
// @card    one
// @param   rows        LIST<MAP NOT NULL> NOT NULL  each {id, value_key}
// @return  written     INTEGER NOT NULL
// @locks   none
// @index   learning_id, learning_value_key
// @why     The key of a value follows its words. Two learnings that differed in a secret only would
//          share one: the second keeps its own, marked by its id, so that neither is lost.
UNWIND $rows AS row
MATCH (l:Learning {id: row.id})
OPTIONAL MATCH (twin:Learning {value_key: row.value_key})
WHERE twin.id <> l.id
WITH l, row, count(twin) AS twins
SET l.value_key =
    CASE twins
      WHEN 0 THEN row.value_key
      ELSE row.value_key + '~' + l.short_id
    END
RETURN count(l) AS written
