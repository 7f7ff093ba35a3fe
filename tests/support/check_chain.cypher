MATCH (s:Session)-[:HAS_EVENT]->(e:SessionEvent)
WITH s, count(e) AS n, count(DISTINCT e.seq) AS d, min(e.seq) AS lo, max(e.seq) AS hi,
  sum(CASE WHEN EXISTS { (:SessionEvent)-[:NEXT]->(e) } THEN 0 ELSE 1 END) AS heads,
  sum(CASE WHEN EXISTS { (e)-[:NEXT]->(:SessionEvent) } THEN 0 ELSE 1 END) AS tails,
  COUNT { (s)-[:LATEST_EVENT]->() } AS pointers
WHERE n <> d OR lo <> 1 OR hi <> n OR heads <> 1 OR tails <> 1 OR pointers <> 1
RETURN s.session_id AS session, n, d, lo, hi, heads, tails, pointers
 UNION
MATCH (a:SessionEvent)-[:NEXT]->(b:SessionEvent)
WHERE a.session_id <> b.session_id OR b.seq <> a.seq + 1
RETURN a.session_id AS session, a.seq AS n, b.seq AS d, null AS lo, null AS hi, null AS heads, null AS tails, null AS pointers
