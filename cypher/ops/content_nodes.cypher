// @query   ops.content_nodes
// @since   0.1.0
// @mode    read
// @card    many
// @return  labels   LIST<STRING> NOT NULL
// @return  number   INTEGER NOT NULL
// @return  digest   STRING NOT NULL    sha256 over the fingerprints of these nodes, in order
// @locks   none
// @uses    apoc.util.sha256
// @allow   AllNodesScan  the sum of everything reads everything, once a backup
// @why     A dump keeps the inner number of a node, so it may stand in the fingerprint; the rest
//          of elementId names the database and changes.
MATCH (n)
WITH
  coll.sort(labels(n)) AS labels,
  apoc.util.sha256([split(elementId(n), ':')[2], coll.sort([key IN keys(n) | [key, valueType(n[key]), n[key]]])]) AS fingerprint
ORDER BY fingerprint
RETURN labels AS labels, count(*) AS number, apoc.util.sha256(collect(fingerprint)) AS digest
ORDER BY labels
