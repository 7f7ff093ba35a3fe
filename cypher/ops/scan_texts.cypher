// @query   ops.scan_texts
// @since   0.2.0
// @mode    read
// @card    many
// @param   label       STRING NOT NULL
// @param   key         STRING NOT NULL     the property that names a node of this label
// @param   names       LIST<STRING NOT NULL> NOT NULL  its properties that are read
// @param   types       LIST<STRING NOT NULL> NOT NULL  relationships that begin there and hold texts
// @param   link_names  LIST<STRING NOT NULL> NOT NULL  their properties that are read
// @param   after       STRING NOT NULL     the last id of the page before, '' for the first
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  ref         STRING NOT NULL     where to write it back
// @return  texts       LIST<MAP NOT NULL> NOT NULL  {name, value} each
// @return  links       LIST<MAP NOT NULL> NOT NULL  {type, ref, texts} each
// @locks   none
// @allow   DynamicLabel  what holds texts stands in model.toml; a list here would miss the next noun
// @why     A sweep reads every text once, in pages by the key.
MATCH (n:$($label))
WHERE n[$key] > $after
WITH n, n[$key] AS id
ORDER BY id ASC
LIMIT $limit
RETURN
  id,
  elementId(n) AS ref,
  [name IN $names WHERE n[name] IS NOT NULL | {name: name, value: n[name]}] AS texts,
  COLLECT {
    MATCH (n)-[r:$any($types)]->()
    RETURN {
      type: type(r),
      ref: elementId(r),
      texts: [name IN $link_names WHERE r[name] IS NOT NULL | {name: name, value: r[name]}]
    }
  } AS links
ORDER BY id ASC
