MATCH (n)
WHERE any(k IN keys(n) WHERE (n[k] IS :: STRING AND n[k] CONTAINS $canary)
  OR (n[k] IS :: LIST<STRING NOT NULL> AND any(x IN n[k] WHERE x CONTAINS $canary)))
RETURN labels(n)[0] AS place, count(*) AS hits
UNION ALL
MATCH ()-[r]->()
WHERE any(k IN keys(r) WHERE r[k] IS :: STRING AND r[k] CONTAINS $canary)
RETURN type(r) AS place, count(*) AS hits
