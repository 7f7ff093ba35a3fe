// @query   learnings.confirmations
// @since   0.1.0
// @mode    read
// @card    many
// @param   days        INTEGER NOT NULL
// @return  client      STRING NOT NULL
// @return  confirmed   INTEGER NOT NULL    sessions whose client's own record shows what was told
// @return  unknown     INTEGER NOT NULL    sessions that were looked at in vain
// @locks   none
// @index   injected_last
// @why     A client that silently drops what a hook hands over looks like success from the hook's
//          side; only a client whose record never shows any of it is suspect.
MATCH (:Learning)-[i:INJECTED_IN]->(session:Session)
WHERE i.last_injected_at >= datetime() - duration({days: $days})
WITH session, collect(DISTINCT i.seen) AS seen
RETURN
  session.client AS client,
  sum(
    CASE
      WHEN 'confirmed' IN seen THEN 1
      ELSE 0
    END) AS confirmed,
  sum(
    CASE
      WHEN 'unknown' IN seen AND NOT 'confirmed' IN seen THEN 1
      ELSE 0
    END) AS unknown
ORDER BY client ASC
