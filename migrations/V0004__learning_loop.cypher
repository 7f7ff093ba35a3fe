// @migration V0004__learning_loop
// @depends V0003__recall
// @tx each
// @why     Belief that changes: what a text was before, who works on what, what a person said of a
//          line, what a model cost; learnings are found by the frame that two values share.
CREATE CONSTRAINT learning_version_id IF NOT EXISTS FOR (n:LearningVersion) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT verdict_id IF NOT EXISTS FOR (n:Verdict) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT lease_key IF NOT EXISTS FOR (n:Lease) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT model_usage_id IF NOT EXISTS FOR (n:ModelUsage) REQUIRE n.id IS UNIQUE;
CREATE INDEX model_usage_day IF NOT EXISTS FOR (n:ModelUsage) ON (n.day);
CREATE INDEX learning_frame IF NOT EXISTS FOR (n:Learning) ON (n.owner_key, n.frame_key);
CREATE INDEX injected_last IF NOT EXISTS FOR ()-[i:INJECTED_IN]-() ON (i.last_injected_at);
CREATE INDEX learning_status IF NOT EXISTS FOR (n:Learning) ON (n.owner_key, n.status);
CREATE INDEX learning_revision IF NOT EXISTS FOR (n:Learning) ON (n.owner_key, n.needs_revision);
CREATE INDEX supersedes_confirmed IF NOT EXISTS FOR ()-[r:SUPERSEDES]-() ON (r.confirmed);
CREATE INDEX learning_words IF NOT EXISTS FOR (n:Learning) ON (n.owner_key, n.words_key);
CREATE INDEX session_last_event IF NOT EXISTS FOR (n:Session) ON (n.last_event_at);
CREATE CONSTRAINT forgetting_id IF NOT EXISTS FOR (n:Forgetting) REQUIRE n.id IS UNIQUE;
