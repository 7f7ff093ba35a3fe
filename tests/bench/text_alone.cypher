// The full-text index and nothing else.
CALL db.index.fulltext.queryNodes('project_learning_fulltext', $terms, {limit: $pool}) YIELD node, score
WITH node, score
WHERE node.owner_key = $owner_key AND node.injectable = true
RETURN node.id AS id, score
ORDER BY score DESC, id
LIMIT $limit
