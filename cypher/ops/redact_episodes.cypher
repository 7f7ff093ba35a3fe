// @query   ops.redact_episodes
// @since   0.1.0
// @mode    write
// @card    one
// @param   rows        LIST<MAP NOT NULL> NOT NULL  each {id, texts, terms, embedding, embedding_model}
// @return  written     INTEGER NOT NULL
// @locks   none
// @index   episode_id
// @why     What is searched by follows the text; without a model the vector goes, it was made of the old words.
UNWIND $rows AS row
MATCH (e:Episode {id: row.id})
SET e += row.texts, e.terms = row.terms, e.embedding = row.embedding, e.embedding_model = row.embedding_model
RETURN count(e) AS written
