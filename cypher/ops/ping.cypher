// @query   ops.ping
// @since   0.1.0
// @mode    read
// @card    one
// @return  answer  INTEGER NOT NULL
// @locks   none
// @why     The health check: the server answers, the credentials hold and the database exists.
RETURN 1 AS answer
