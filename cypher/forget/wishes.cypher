// @query   forget.wishes
// @since   0.2.0
// @mode    read
// @card    many
// @param   kind        STRING NOT NULL
// @param   check       STRING NOT NULL  the hash of what was named
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
// @locks   none
// @allow   NodeByLabelScan  there is one a wish, and a person waits for it
// @why     A kill may come when all is gone and nothing was proved yet: the same wish is known by its hash.
MATCH (f:Forgetting)
WHERE f.kind = $kind AND $check IN f.checks
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
ORDER BY created_at ASC, id ASC
