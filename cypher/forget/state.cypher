// @query   forget.state
// @since   0.2.0
// @mode    write
// @card    maybe
// @param   id          STRING NOT NULL
// @param   state       STRING NOT NULL  open once all is marked, done at the end
// @param   at          STRING NOT NULL
// @return  id          STRING NOT NULL
// @return  kind        STRING NOT NULL
// @return  state       STRING NOT NULL
// @return  events      INTEGER NOT NULL
// @return  learnings   INTEGER NOT NULL
// @return  weakened    INTEGER NOT NULL
// @return  episodes    INTEGER NOT NULL
// @return  sessions    INTEGER NOT NULL
// @return  checks      LIST<STRING NOT NULL> NOT NULL
// @return  created_at  ZONED DATETIME NOT NULL
// @locks   (:Forgetting), exclusive, by the write itself
// @index   forgetting_id
MATCH (f:Forgetting {id: $id})
SET f.state = $state, f.finished_at =
    CASE $state
      WHEN 'done' THEN datetime($at)
    END
RETURN
  f.id AS id,
  f.kind AS kind,
  f.state AS state,
  f.events AS events,
  f.learnings AS learnings,
  f.weakened AS weakened,
  f.episodes AS episodes,
  f.sessions AS sessions,
  f.checks AS checks,
  f.created_at AS created_at
