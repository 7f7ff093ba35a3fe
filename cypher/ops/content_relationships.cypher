// @query   ops.content_relationships
// @since   0.1.0
// @mode    read
// @card    many
// @return  name     STRING NOT NULL
// @return  number   INTEGER NOT NULL
// @return  digest   STRING NOT NULL    sha256 over their fingerprints, in order
// @locks   none
// @uses    apoc.util.sha256
// @allow   DirectedAllRelationshipsScan  the sum of everything reads everything, once a backup
MATCH (a)-[r]->(b)
WITH
  type(r) AS name,
  apoc.util.sha256([
    split(elementId(a), ':')[2],
    split(elementId(r), ':')[2],
    split(elementId(b), ':')[2],
    coll.sort([key IN keys(r) | [key, valueType(r[key]), r[key]]])
  ]) AS fingerprint
ORDER BY fingerprint
RETURN name AS name, count(*) AS number, apoc.util.sha256(collect(fingerprint)) AS digest
ORDER BY name
