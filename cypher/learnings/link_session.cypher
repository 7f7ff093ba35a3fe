// @query   learnings.link_session
// @since   0.2.0
// @mode    write
// @card    one
// @param   session_id  STRING NOT NULL
// @param   ids         LIST<STRING NOT NULL> NOT NULL  learnings that a tool's answer named
// @param   at          STRING NOT NULL
// @return  linked      INTEGER NOT NULL    edges that were missing
// @locks   (:Learning), exclusive, before the edge is looked for
// @index   session_id, learning_id
// @why     Where the server could not tell which session called, the hook after the call can. What
//          is linked already stays as it is; a refused value is linked to nobody.
UNWIND $ids AS id
MATCH (l:Learning {id: id})
SET l.touched = $at
WITH l
MATCH (s:Session {session_id: $session_id})
WHERE NOT l.status IN ['rejected', 'blocked'] AND COUNT { (l)-[:FROM_SESSION]->(s) } = 0
MERGE (l)-[f:FROM_SESSION]->(s)
  ON CREATE SET f.at = datetime($at), f.epoch = s.epoch, l.support_count = l.support_count + 1
SET l.last_source_session_id = s.session_id, l.user_id = coalesce(l.user_id, s.user_id)
RETURN count(f) AS linked
