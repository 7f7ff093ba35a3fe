// @query   ops.model_settle
// @since   0.1.0
// @mode    write
// @card    one
// @param   day         STRING NOT NULL
// @param   call        STRING NOT NULL
// @param   task        STRING NOT NULL
// @param   model       STRING NOT NULL
// @param   tokens      INTEGER NOT NULL   as reserved
// @param   usd         FLOAT NOT NULL
// @param   input_tokens  INTEGER NOT NULL  as taken
// @param   output_tokens  INTEGER NOT NULL
// @param   cost_usd    FLOAT NOT NULL
// @param   failed      BOOLEAN NOT NULL
// @return  calls       INTEGER NOT NULL   of the day
// @locks   (:ModelUsage) of the day's total, exclusive, before its sums are read
// @index   model_usage_id
// @why     The reservation goes in the write that counts what was taken. Settled twice is
//          settled once: a lost reply must not free another call's reservation.
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
    day.reserved = $tokens,
    day.reserved_usd = $usd,
    day.open = [$call]
MERGE (one:ModelUsage {id: 'day:' + $day + ':' + $task + ':' + $model})
  ON CREATE SET
    one.day = $day,
    one.task = $task,
    one.model = $model,
    one.calls = 0,
    one.failed = 0,
    one.input_tokens = 0,
    one.output_tokens = 0,
    one.cost_usd = 0.0,
    one.reserved = 0,
    one.reserved_usd = 0.0
SET day.last_at = datetime.realtime(), one.last_at = datetime.realtime()
WITH day, one,
  CASE
    WHEN $call IN day.open THEN 1
    ELSE 0
  END AS n
SET
  day.open = [c IN day.open WHERE c <> $call],
  day.reserved = day.reserved - n * $tokens,
  day.reserved_usd = day.reserved_usd - n * $usd,
  day.calls = day.calls + n,
  day.failed = day.failed + n * toInteger($failed),
  day.input_tokens = day.input_tokens + n * $input_tokens,
  day.output_tokens = day.output_tokens + n * $output_tokens,
  day.cost_usd = day.cost_usd + n * $cost_usd,
  one.calls = one.calls + n,
  one.failed = one.failed + n * toInteger($failed),
  one.input_tokens = one.input_tokens + n * $input_tokens,
  one.output_tokens = one.output_tokens + n * $output_tokens,
  one.cost_usd = one.cost_usd + n * $cost_usd
RETURN day.calls AS calls
