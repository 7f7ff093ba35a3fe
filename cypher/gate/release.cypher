// @query   gate.release
// @since   0.2.0
// @mode    write
// @card    many
// @param   keys        LIST<STRING NOT NULL> NOT NULL
// @return  value_key   STRING NOT NULL
// @return  earlier     STRING NOT NULL     the learning that had it, or has it again
// @locks   (:Learning) of the key, exclusive, before its status is read
// @index   learning_value_key
// @why     A value that was replaced may come back: its first time keeps its interval and its chain
//          under another key, and the new statement is a learning of its own. What was replaced while
//          it waited was never believed: it stands open again. A refused one stays.
UNWIND $keys AS key
MATCH (l:Learning {value_key: key})
SET l.touched = key
WITH l, key
WHERE
  l.reviewed_by IS NULL AND
  l.valid_until IS NOT NULL AND
  (l.status IN ['approved', 'candidate'] OR l.rejected_reason STARTS WITH 'superseded_by:')
WITH l, key, l.status = 'candidate' AS waited
OPTIONAL MATCH (:Learning)-[ended:SUPERSEDES]->(l)
WHERE waited
DELETE ended
WITH DISTINCT l, key, waited
SET
  l.value_key =
    CASE
      WHEN waited THEN key
      ELSE key + ':' + l.id
    END,
  l.valid_until =
    CASE
      WHEN waited THEN null
      ELSE l.valid_until
    END,
  l.valid_from =
    CASE
      WHEN waited THEN null
      ELSE l.valid_from
    END
RETURN key AS value_key, l.id AS earlier
