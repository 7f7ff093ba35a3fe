// @migration V0001__timeline
// @tx each
// @why     Projects, users, sessions, their events and episodes. Keys are never null, so that
//          uniqueness really protects; every vector index carries the four filter properties.
CREATE CONSTRAINT project_id IF NOT EXISTS FOR (n:Project) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT user_id IF NOT EXISTS FOR (n:User) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT session_id IF NOT EXISTS FOR (n:Session) REQUIRE n.session_id IS UNIQUE;
CREATE CONSTRAINT session_event_id IF NOT EXISTS FOR (n:SessionEvent) REQUIRE n.event_id IS UNIQUE;
CREATE CONSTRAINT session_event_seq IF NOT EXISTS
FOR (n:SessionEvent) REQUIRE (n.session_id, n.seq) IS UNIQUE;
CREATE INDEX session_event_key IF NOT EXISTS FOR (n:SessionEvent) ON (n.event_key);
CREATE INDEX session_event_tool_use IF NOT EXISTS FOR (n:SessionEvent) ON (n.tool_use_id);
CREATE INDEX session_event_tool_name IF NOT EXISTS FOR (n:SessionEvent) ON (n.tool_name);
CREATE INDEX session_user_id IF NOT EXISTS FOR (n:Session) ON (n.user_id);
CREATE CONSTRAINT processing_id IF NOT EXISTS FOR (n:ProjectProcessing) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT episode_id IF NOT EXISTS FOR (n:Episode) REQUIRE n.id IS UNIQUE;
CREATE INDEX episode_timeline IF NOT EXISTS FOR (n:Episode) ON (n.project_id, n.ended_at);
CREATE FULLTEXT INDEX project_observation_fulltext IF NOT EXISTS
FOR (n:Episode) ON EACH [n.title, n.narrative, n.terms, n.owner_token]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words', `fulltext.eventually_consistent`: false}};
CREATE VECTOR INDEX project_observation_vector IF NOT EXISTS
FOR (n:Episode) ON n.embedding
WITH [n.owner_key, n.live, n.injectable, n.embedding_model]
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};
