// @query   ops.model_reserve
// @since   0.1.0
// @mode    write
// @card    one
// @param   day         STRING NOT NULL
// @param   call        STRING NOT NULL    unique to this call
// @param   tokens      INTEGER NOT NULL   the most it may take
// @param   usd         FLOAT NOT NULL
// @param   most_tokens INTEGER NOT NULL   what a day may take in all
// @param   most_usd    FLOAT NOT NULL
// @return  granted     BOOLEAN NOT NULL
// @return  tokens      INTEGER NOT NULL   taken and reserved, this call included
// @return  usd         FLOAT NOT NULL
// @locks   (:ModelUsage) of the day's total, exclusive, before its sums are read
// @index   model_usage_id
// @why     Two callers that read the same sum would pass the cap together. A call that comes again
//          because its reply was lost finds its own name and reserves nothing more.
MERGE (day:ModelUsage {id: 'day:' + $day})
  ON CREATE SET
    day.day = $day,
    day.task = '*',
    day.model = '*',
    day.calls = 0,
    day.failed = 0,
    day.input_tokens = 0,
    day.output_tokens = 0,
    day.cost_usd = 0.0,
    day.reserved = 0,
    day.reserved_usd = 0.0,
    day.open = []
SET day.last_at = datetime.realtime()
WITH
  day,
  $call IN day.open AS again,
  day.input_tokens + day.output_tokens + day.reserved AS tokens,
  day.cost_usd + day.reserved_usd AS usd
WITH day, again, again OR tokens + $tokens <= $most_tokens AND usd + $usd <= $most_usd AS granted
FOREACH (_ IN
CASE
  WHEN granted AND NOT again THEN [1]
  ELSE []
END |
  SET day.open = day.open + $call, day.reserved = day.reserved + $tokens, day.reserved_usd = day.reserved_usd + $usd
)
RETURN granted, day.input_tokens + day.output_tokens + day.reserved AS tokens, day.cost_usd + day.reserved_usd AS usd
