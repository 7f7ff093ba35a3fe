// @query   forget.fade
// @since   0.2.0
// @mode    write
// @card    one
// @param   before      ZONED DATETIME NOT NULL  what was neither used nor said again since then
// @param   limit       INTEGER NOT NULL
// @return  archived    INTEGER NOT NULL
// @locks   (:Learning), exclusive, by the write itself
// @allow   NodeByLabelScan  a sweep goes over everything, in idle time
// @why     Nobody used it, said it again or confirmed it: it is told no more, and kept. What a person
//          has reviewed does not fade.
MATCH (l:Learning)
WHERE
  l.status IN ['approved', 'candidate', 'quarantined'] AND
  l.reviewed_by IS NULL AND
  l.updated_at < $before AND
  coalesce(l.last_used_at, l.updated_at) < $before AND
  coalesce(l.last_confirmed_at, l.updated_at) < $before
WITH l
LIMIT $limit
SET l.status = 'archived', l.live = false, l.injectable = false, l.archived_at = datetime()
RETURN count(l) AS archived
