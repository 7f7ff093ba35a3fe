// @query   forget.recheck
// @since   0.2.0
// @mode    write
// @card    one
// @param   id          STRING NOT NULL
// @param   limit       INTEGER NOT NULL
// @return  checked     INTEGER NOT NULL
// @locks   (:Forgetting), exclusive, before its marks are read, then (:Learning)
// @index   forgetting_id
// @why     A learning whose sources are all gone goes too.
MATCH (f:Forgetting {id: $id})
SET f.touched = $id
WITH f
MATCH (f)-[m:RECHECKS]->(l:Learning)
WHERE COUNT { (l)-[:EVIDENCED_BY]->(:SessionEvent) } = 0
WITH f, m, l
ORDER BY l.id ASC
LIMIT $limit
MERGE (f)-[:FORGETS]->(l)
DELETE m
RETURN count(l) AS checked
