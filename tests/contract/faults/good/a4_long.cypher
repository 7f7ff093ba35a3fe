// @query   good.a4_long
// @since   0.1.0
// @mode    write
// @card    one
// @param   id     STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
// @allow   Layout  one case a line
MATCH (t:Toy {id: $id})
FOREACH (_ IN CASE WHEN t.size > 0 THEN [1] ELSE [] END | SET t.size = 0)
FOREACH (_ IN CASE WHEN t.size > 1 THEN [1] ELSE [] END | SET t.size = 1)
FOREACH (_ IN CASE WHEN t.size > 2 THEN [1] ELSE [] END | SET t.size = 2)
FOREACH (_ IN CASE WHEN t.size > 3 THEN [1] ELSE [] END | SET t.size = 3)
FOREACH (_ IN CASE WHEN t.size > 4 THEN [1] ELSE [] END | SET t.size = 4)
FOREACH (_ IN CASE WHEN t.size > 5 THEN [1] ELSE [] END | SET t.size = 5)
FOREACH (_ IN CASE WHEN t.size > 6 THEN [1] ELSE [] END | SET t.size = 6)
FOREACH (_ IN CASE WHEN t.size > 7 THEN [1] ELSE [] END | SET t.size = 7)
FOREACH (_ IN CASE WHEN t.size > 8 THEN [1] ELSE [] END | SET t.size = 8)
FOREACH (_ IN CASE WHEN t.size > 9 THEN [1] ELSE [] END | SET t.size = 9)
FOREACH (_ IN CASE WHEN t.size > 10 THEN [1] ELSE [] END | SET t.size = 10)
FOREACH (_ IN CASE WHEN t.size > 11 THEN [1] ELSE [] END | SET t.size = 11)
RETURN t.id AS id
