// The vector index and nothing else.
MATCH (near:Learning)
  SEARCH near IN (
    VECTOR INDEX project_learning_vector
    FOR $vector
    WHERE near.owner_key = $owner_key AND near.injectable = true AND near.embedding_model = $model
    LIMIT $pool
  ) SCORE AS closeness
RETURN near.id AS id, closeness
ORDER BY closeness DESC, id
LIMIT $limit
