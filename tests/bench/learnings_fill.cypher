// Many approved learnings of one owner, as the product stores them.
UNWIND $rows AS row
CREATE (l:Learning {
  id: row.id, short_id: row.id, value_key: row.id, frame_key: row.frame_key, words_key: row.words_key, text: row.text, terms: row.terms,
  status: 'approved', scope: 'project', origin: 'user_typed', kind: 'fact', confidence: 0.5, live: true,
  injectable: true, consolidated: false, owner_key: $owner_key, owner_token: $owner_token, source: 'bench',
  created_at: datetime(), updated_at: datetime(), support_count: 1, inject_count: 0, use_count: 0,
  retrieval_count: 0, decision_count: 1, embedding: row.vector, embedding_model: $model
})
