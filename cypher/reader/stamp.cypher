// @query   reader.stamp
// @since   0.1.0
// @mode    read
// @card    one
// @return  indexes  LIST<STRING NOT NULL> NOT NULL
// @locks   none
// @why     What a plan depends on besides the text: a verdict that was kept is for exactly these indexes.
SHOW INDEXES
YIELD name, type, state, entityType, labelsOrTypes, properties, owningConstraint
RETURN
  coll.sort(
    collect(
      name +
      '|' +
      type +
      '|' +
      state +
      '|' +
      coalesce(entityType, '') +
      '|' +
      coalesce(owningConstraint, '') +
      reduce(line = '|', part IN coalesce(labelsOrTypes, []) | line + ',' + part) +
      reduce(
        line = '|', part IN coalesce(properties, []) | line + ',' + part))) AS indexes
