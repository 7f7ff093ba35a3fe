// @query   gate.blocked_recently
// @since   0.1.0
// @mode    read
// @card    many
// @param   project_id  STRING NOT NULL
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  category    STRING NOT NULL
// @return  rule        STRING NOT NULL
// @return  reason      STRING NOT NULL
// @return  session_id  STRING
// @return  at          ZONED DATETIME NOT NULL
// @locks   none
// @index   gate_decision_project
// @why     What was withheld in the last seven days, with the reason and without the text.
MATCH (d:GateDecision)
WHERE d.project_id = $project_id AND d.at >= datetime() - duration({days: 7})
WITH d
ORDER BY d.at DESC, d.id ASC
LIMIT $limit
RETURN d.id AS id, d.category AS category, d.rule AS rule, d.reason AS reason, d.session_id AS session_id, d.at AS at
