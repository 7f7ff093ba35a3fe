// @query   forget.drop
// @since   0.2.0
// @mode    write
// @card    one
// @param   id          STRING NOT NULL
// @return  dropped     INTEGER NOT NULL
// @locks   (:Forgetting), exclusive, by the write itself
// @index   forgetting_id
// @why     Half-made marks are no plan: nothing was changed by them.
MATCH (f:Forgetting {id: $id})
WHERE f.state = 'marking'
DETACH DELETE f
RETURN count(*) AS dropped
