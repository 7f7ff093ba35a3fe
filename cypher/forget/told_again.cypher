// @query   forget.told_again
// @since   0.2.0
// @mode    write
// @card    one
// @param   id          STRING NOT NULL
// @param   sessions    LIST<STRING NOT NULL> NOT NULL  whose episode now tells what is left
// @param   episodes    INTEGER NOT NULL
// @return  cleared     INTEGER NOT NULL
// @locks   (:Forgetting), exclusive, before its marks are read
// @index   forgetting_id, session_id
MATCH (f:Forgetting {id: $id})
SET f.touched = $id, f.episodes = f.episodes + $episodes
WITH f
UNWIND $sessions AS session_id
MATCH (f)-[m:RECHECKS]->(:Session {session_id: session_id})
DELETE m
RETURN count(m) AS cleared
