// @query   forget.begin
// @since   0.2.0
// @mode    write
// @card    one
// @param   id          STRING NOT NULL
// @param   kind        STRING NOT NULL  learning, session, project, user, text or taint
// @param   refuse      STRING NOT NULL  none, person or all: whose values stay refused, without a text
// @param   checks      LIST<STRING NOT NULL> NOT NULL  hashes by which the receipt knows what is gone
// @param   at          STRING NOT NULL
// @return  id          STRING NOT NULL
// @locks   (:Forgetting), exclusive, through MERGE under its constraint
// @index   forgetting_id
// @why     What goes is marked first. A kill while marking leaves nothing changed: the state tells.
MERGE (f:Forgetting {id: $id})
  ON CREATE SET
    f.kind = $kind,
    f.state = 'marking',
    f.refuse = $refuse,
    f.checks = $checks,
    f.created_at = datetime($at),
    f.events = 0,
    f.learnings = 0,
    f.weakened = 0,
    f.episodes = 0,
    f.sessions = 0
RETURN f.id AS id
