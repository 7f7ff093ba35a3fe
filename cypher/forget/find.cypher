// @query   forget.find
// @since   0.2.0
// @mode    read
// @card    many
// @param   forms       LIST<STRING NOT NULL> NOT NULL  in small letters
// @return  place       STRING NOT NULL  a label or a type
// @return  hits        INTEGER NOT NULL
// @locks   none
// @allow   AllNodesScan  the proof reads everything, when a person asks
// @allow   DirectedAllRelationshipsScan  as above
// @why     Every text of every property of every node and relationship, whatever its label: a proof
//          that knew the places would only find what it knows.
CALL () {
  MATCH (n)
  UNWIND keys(n) AS key
  WITH
    n,
    CASE
      WHEN n[key] IS :: STRING NOT NULL THEN [n[key]]
      WHEN n[key] IS :: LIST < STRING NOT NULL > NOT NULL THEN n[key]
      ELSE []
    END AS texts
  WHERE any(text IN texts WHERE any(form IN $forms WHERE toLower(text) CONTAINS form))
  RETURN DISTINCT n AS found, coalesce(labels(n)[0], '') AS place
    UNION ALL
  MATCH ()-[r]->()
  UNWIND keys(r) AS key
  WITH
    r,
    CASE
      WHEN r[key] IS :: STRING NOT NULL THEN [r[key]]
      WHEN r[key] IS :: LIST < STRING NOT NULL > NOT NULL THEN r[key]
      ELSE []
    END AS texts
  WHERE any(text IN texts WHERE any(form IN $forms WHERE toLower(text) CONTAINS form))
  RETURN DISTINCT r AS found, type(r) AS place
}
RETURN place, count(*) AS hits
ORDER BY place
