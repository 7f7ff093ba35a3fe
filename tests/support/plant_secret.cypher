MATCH (n)
WHERE n:SessionEvent OR n:Learning OR n:Episode
WITH n, [key IN keys(n) WHERE n[key] IS :: STRING AND n[key] CONTAINS $place] AS found
FOREACH (key IN found | SET n[key] = replace(n[key], $place, $token))
WITH sum(size(found)) AS planted
CALL () {
  MATCH ()-[q:EVIDENCED_BY]->()
  SET q.quote = replace(q.quote, $place, $token)
  RETURN count(q) AS quotes
}
RETURN planted + quotes AS planted
