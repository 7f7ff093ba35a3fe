// @migration V0002__learnings
// @depends V0001__timeline
// @tx each
// @why     What was learned and how the gate decided. One value key is one learning: folding of
//          equal values is the constraint itself, not a search.
CREATE CONSTRAINT learning_id IF NOT EXISTS FOR (n:Learning) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT learning_value_key IF NOT EXISTS FOR (n:Learning) REQUIRE n.value_key IS UNIQUE;
CREATE INDEX learning_short_id IF NOT EXISTS FOR (n:Learning) ON (n.short_id);
CREATE INDEX learning_user_id IF NOT EXISTS FOR (n:Learning) ON (n.user_id);
CREATE INDEX learning_owner IF NOT EXISTS FOR (n:Learning) ON (n.owner_key, n.updated_at);
CREATE CONSTRAINT gate_decision_id IF NOT EXISTS FOR (n:GateDecision) REQUIRE n.id IS UNIQUE;
CREATE FULLTEXT INDEX project_learning_fulltext IF NOT EXISTS
FOR (n:Learning) ON EACH [n.text, n.task_pattern, n.summary, n.terms, n.owner_token]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words', `fulltext.eventually_consistent`: false}};
CREATE VECTOR INDEX project_learning_vector IF NOT EXISTS
FOR (n:Learning) ON n.embedding
WITH [n.owner_key, n.live, n.injectable, n.embedding_model]
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};
CREATE INDEX gate_decision_project IF NOT EXISTS FOR (n:GateDecision) ON (n.project_id, n.at);
