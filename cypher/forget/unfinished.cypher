// @query   forget.unfinished
// @since   0.2.0
// @mode    read
// @card    many
// @return  id          STRING NOT NULL
// @return  kind        STRING NOT NULL
// @return  state       STRING NOT NULL
// @return  refuse      STRING NOT NULL
// @locks   none
// @allow   NodeByLabelScan  there are as many as a person ever asked for
// @why     What a killed command left: marked to the end it is finished, else it is dropped.
MATCH (f:Forgetting)
WHERE f.state IN ['marking', 'open']
RETURN f.id AS id, f.kind AS kind, f.state AS state, f.refuse AS refuse
ORDER BY f.created_at, id
