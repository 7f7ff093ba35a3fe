// @query   ops.redact_events
// @since   0.1.0
// @mode    write
// @card    one
// @param   rows        LIST<MAP NOT NULL> NOT NULL  each {id, texts}, the changed properties only
// @return  written     INTEGER NOT NULL
// @locks   none
// @index   session_event_id
// @why     Only the texts change: ids, order and origin stay.
UNWIND $rows AS row
MATCH (e:SessionEvent {event_id: row.id})
SET e += row.texts
RETURN count(e) AS written
