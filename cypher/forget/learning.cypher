// @query   forget.learning
// @since   0.2.0
// @mode    read
// @card    many
// @param   id          STRING NOT NULL  full or short
// @return  id          STRING NOT NULL
// @return  text        STRING NOT NULL
// @return  quotes      LIST<STRING NOT NULL> NOT NULL  the words it rests on
// @locks   none
// @index   learning_id, learning_short_id
// @why     What was found to say the same goes with it, or it would come back in other words.
MATCH (l:Learning)
WHERE l.id = $id OR l.short_id = $id
MATCH (l)<-[:ALREADY_LEARNED_FROM]-{0,3}(same:Learning)
RETURN DISTINCT
  same.id AS id,
  same.text AS text,
  COLLECT {
    MATCH (same)-[q:EVIDENCED_BY]->(:SessionEvent)
    WHERE q.quote IS NOT NULL
    RETURN DISTINCT q.quote
  } AS quotes
ORDER BY id
