// Every vector of an owner, a page at a time: what an approximate search is measured by.
MATCH (l:Learning)
WHERE l.owner_key = $owner_key AND l.live = true AND l.id > $after
WITH l
ORDER BY l.id
LIMIT $limit
RETURN l.id AS id, l.embedding AS vector
