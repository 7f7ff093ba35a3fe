// @query   ops.calls_running
// @since   0.1.0
// @mode    read
// @card    many
// @param   calls  LIST<STRING NOT NULL> NOT NULL   ids that transactions carry as `call` in their metadata
// @return  call   STRING NOT NULL
// @locks   none
// @why     Whether a raw query whose connection was cut still holds a thread: only then is it stuck.
SHOW TRANSACTIONS
YIELD metaData
WHERE metaData.call IN $calls
RETURN metaData.call AS call
ORDER BY call
