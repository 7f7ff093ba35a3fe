MATCH (l:Learning) RETURN l.status AS status, count(*) AS n ORDER BY n DESC
MATCH (l:Learning {live: true}) WHERE l.owner_key STARTS WITH 'project:' RETURN l.kind, collect(l.short_id)[..5] AS some LIMIT 20
MATCH (p:Project)-[:HAS_SESSION]->(s:Session) RETURN p.name, count(s) AS sessions, max(s.last_event_at) AS last ORDER BY last DESC
MATCH (s:Session)-[:HAS_EVENT]->(e:SessionEvent) WHERE e.tool_error RETURN e.tool_name AS tool, count(*) AS failures ORDER BY failures DESC LIMIT 10
MATCH (l:Learning)-[r:EVIDENCED_BY]->(e:SessionEvent) RETURN l.id, r.quote, e.timestamp ORDER BY e.timestamp DESC SKIP 5 LIMIT 10
MATCH (l:Learning) WHERE NOT EXISTS { (l)-[:EVIDENCED_BY]->(:SessionEvent) } RETURN count(l) AS without_evidence
MATCH (s:Session) RETURN s.session_id, COUNT { (s)-[:HAS_EVENT]->() } AS events ORDER BY events DESC LIMIT 10
MATCH (s:Session) WHERE COUNT { (s)-[:HAS_EVENT]->() } * 2 > 10 RETURN s.session_id
MATCH (p:Project) RETURN p.name, COLLECT { MATCH (p)-[:HAS_LEARNING]->(l:Learning) RETURN l.text ORDER BY l.created_at DESC LIMIT 3 } AS newest
MATCH (a:SessionEvent)-[:NEXT*1..3]->(b:SessionEvent) WHERE a.event_name = 'UserPromptSubmit' RETURN a.event_id, b.event_name
MATCH p = (s:Session)-[:FIRST_EVENT]->(:SessionEvent)-[:NEXT]->{1,6}(e:SessionEvent) RETURN length(p), e.event_id LIMIT 5
MATCH (a:Episode) ((x)-[:NEXT]->(y)){1,4} (b:Episode) RETURN a.id, b.id, size(x) AS hops LIMIT 5
MATCH p = SHORTEST 1 (a:Project)-[:HAS_SESSION|HAS_LEARNING]-{1,4}(u:User) RETURN [n IN nodes(p) | labels(n)] AS way LIMIT 3
MATCH p = shortestPath((u:User)-[*..4]-(l:Learning)) RETURN length(p) LIMIT 3
MATCH (e:SessionEvent) WHERE e.timestamp > datetime() - duration('P7D') RETURN date(e.timestamp) AS day, count(*) AS n ORDER BY day
MATCH (e:SessionEvent) RETURN date.truncate('week', e.timestamp) AS week, count(DISTINCT e.session_id) AS sessions ORDER BY week
MATCH (l:Learning) RETURN duration.between(l.created_at, datetime()).days AS age, l.text ORDER BY age LIMIT 5
MATCH (l:Learning) RETURN percentileCont(l.confidence, 0.5) AS median, avg(l.confidence) AS mean, stDev(l.confidence) AS spread
MATCH (l:Learning) WITH l.project_id AS project, collect(l) AS all_of_it RETURN project, size(all_of_it) AS n, [x IN all_of_it WHERE x.support_count > 1 | x.short_id] AS supported
UNWIND ['user_typed', 'tool'] AS origin MATCH (l:Learning {origin: origin}) RETURN origin, count(*) AS n
UNWIND range(0, 6) AS d OPTIONAL MATCH (s:Session) WHERE date(s.created_at) = date() - duration({days: d}) RETURN d, count(s) AS n
MATCH (n) RETURN labels(n) AS labels, count(*) AS n ORDER BY n DESC
MATCH ()-[r]->() RETURN type(r) AS type, count(*) AS n ORDER BY n DESC
MATCH (n:Learning|Episode) RETURN n.id, CASE WHEN n:Learning THEN 'learning' ELSE 'episode' END AS kind LIMIT 10
MATCH (n:!Session&!SessionEvent) RETURN count(n) AS others
CALL db.labels() YIELD label RETURN label ORDER BY label
CALL db.relationshipTypes()
CALL db.propertyKeys() YIELD propertyKey WHERE propertyKey CONTAINS 'id' RETURN propertyKey
CALL db.schema.nodeTypeProperties() YIELD nodeType, propertyName, propertyTypes RETURN nodeType, collect(propertyName) AS names
CALL db.schema.visualization() YIELD nodes, relationships RETURN size(nodes) AS n, size(relationships) AS m
CALL db.index.fulltext.queryNodes('project_learning_fulltext', 'deploy AND staging', {limit: 5}) YIELD node, score RETURN node.text, score
MATCH (l:Learning) WITH l LIMIT 1 CALL (l) { MATCH (l)-[:FROM_SESSION]->(s:Session) RETURN s.client AS client ORDER BY client LIMIT 1 } RETURN l.id, client
MATCH (p:Project) CALL (p) { MATCH (p)-[:HAS_SESSION]->(s) RETURN count(s) AS n UNION ALL MATCH (p)-[:HAS_LEARNING]->(l) RETURN count(l) AS n } RETURN p.id, collect(n) AS counts
MATCH (l:Learning) WITH l ORDER BY l.updated_at DESC LIMIT 10 RETURN l {.id, .text, .status, supported: l.support_count > 1, set: 'yes'} AS row
MATCH (s:Session) RETURN s {.*, events: [(s)-[:HAS_EVENT]->(e:SessionEvent) | e.event_name][..3]} AS session LIMIT 2
MATCH (n) WHERE n.text CONTAINS 'DETACH DELETE' OR n.text CONTAINS "CREATE (x)" RETURN n.id
MATCH (n) WHERE n.`set` = 1 OR n.`create` = 2 RETURN n.id // CALL apoc.load.json('http://127.0.0.1/')
MATCH (n:`Use`:Load)-[r:SET|MERGE|DELETE]->(m:Create) RETURN n.drop, r.show, m.call, {remove: 1, use: 2} AS map
MATCH (user:User)-[:HAS_SESSION]->(start:Session) WHERE start.ended_at IS NULL RETURN user.id, start.session_id
/* who: the analyst; what: DELETE nothing */ MATCH (s:Session) /* inline; comment */ RETURN s.agent_kind, count(*) AS n
MATCH (e:SessionEvent) WHERE e.prompt STARTS WITH "it's" OR e.prompt ENDS WITH 'x\'y' RETURN e.event_id
MATCH (g:GateDecision) RETURN g.rule, g.to, count(*) AS n, min(g.at) AS first, max(g.last_at) AS last ORDER BY n DESC
MATCH (l:Learning)-[i:INJECTED_IN]->(s:Session) WITH l, count(i) AS told, collect(DISTINCT s.client) AS clients WHERE told > 1 RETURN l.short_id, told, clients
MATCH (l:Learning) WHERE l.confidence IS NOT NULL RETURN round(l.confidence, 1) AS bucket, count(*) AS n ORDER BY bucket
MATCH (l:Learning) RETURN reduce(total = 0, n IN collect(l.use_count) | total + n) AS uses, (1 + 2) * 3 AS nine, -(4) + (5) AS one
MATCH (l:Learning) WHERE any(word IN split(toLower(l.text), ' ') WHERE word IN ['deploy', 'ship']) RETURN l.id
MATCH (l:Learning) WHERE l.embedding IS NOT NULL RETURN l.embedding_model AS model, count(*) AS n, max(size(l.embedding)) AS width
MATCH (a:Learning), (b:Learning) WHERE a.id < b.id AND a.embedding_model = b.embedding_model WITH a, b, vector.similarity.cosine(a.embedding, b.embedding) AS near WHERE near > 0.9 RETURN a.id, b.id, near ORDER BY near DESC LIMIT 10
MATCH (l:Learning) LET words = size(split(l.text, ' ')) FILTER words > 3 RETURN l.id, words ORDER BY words DESC LIMIT 5
MATCH (n) WHERE n.id IS :: STRING NOT NULL RETURN valueType(n.id) AS kind, count(*) AS n
MATCH (n:$($label)) RETURN count(n) AS n
MATCH (n {id: $id}) RETURN properties(n) AS properties, n[$key] AS one
WITH point({x: 1, y: 2}) AS a, point({x: 4, y: 6}) AS b RETURN point.distance(a, b) AS d, toString(1.5) + 'm' AS text, 7 % 4 ^ 2 AS n;
RETURN [1, 2, 3][0..2] AS part, 0x1F AS hex, 1_000 AS big, 1e-3 AS small, .5 AS half, NOT true XOR false AS odd
MATCH (m:MkgMigration) OPTIONAL MATCH (m)-[:NEXT]->(after) RETURN m.id, m.state, after.id ORDER BY m.seq
MATCH REPEATABLE ELEMENTS (a:Session)-[:HAS_SUBAGENT]->(b:Session) RETURN count(*) AS n
RETURN 1 AS x NEXT MATCH (s:Session) RETURN x, count(s) AS n
