// @migration V0003__recall
// @depends V0002__learnings
// @tx each
// @why     Words are searched by their stems, and a turn of a dialogue has a speaker. A full-text
//          index cannot change its analyzer: it is dropped and made again, and fills itself.
DROP INDEX project_observation_fulltext IF EXISTS;
DROP INDEX project_learning_fulltext IF EXISTS;
CREATE FULLTEXT INDEX project_observation_fulltext IF NOT EXISTS
FOR (n:Episode) ON EACH [n.title, n.narrative, n.terms, n.owner_token]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english', `fulltext.eventually_consistent`: false}};
CREATE FULLTEXT INDEX project_learning_fulltext IF NOT EXISTS
FOR (n:Learning) ON EACH [n.text, n.task_pattern, n.summary, n.terms, n.owner_token]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english', `fulltext.eventually_consistent`: false}};
CREATE CONSTRAINT speaker_id IF NOT EXISTS FOR (n:Speaker) REQUIRE n.id IS UNIQUE;
CREATE INDEX speaker_owner IF NOT EXISTS FOR (n:Speaker) ON (n.owner_key);
