OPTIONAL MATCH (n) WHERE NOT n:MkgTestStore
WITH count(n) AS others
OPTIONAL MATCH (mark:MkgTestStore)
WITH others, count(mark) AS marks
FOREACH (_ IN CASE WHEN others = 0 AND marks = 0 THEN [1] ELSE [] END | CREATE (:MkgTestStore {at: datetime()}))
RETURN others = 0 OR marks > 0 AS ours
