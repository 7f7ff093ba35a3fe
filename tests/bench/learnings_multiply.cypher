// Copies of each learning with the same words and a vector nearby: synthetic, as above 10,000 no text is embedded.
MATCH (l:Learning)
WHERE l.source = 'bench'
CALL (l) {
  UNWIND range(1, $times) AS i
  CREATE (copy:Learning)
  SET copy = properties(l), copy.id = l.id + '-' + i, copy.value_key = l.id + '-' + i, copy.source = 'bench-copy',
    copy.short_id = l.id + '-' + i, copy.text = l.text + ' Variant ' + i + '.', copy.terms = l.terms + ' variant' + i,
    copy.embedding = [x IN l.embedding | x + 0.12 * (rand() - 0.5)]
} IN TRANSACTIONS OF 500 ROWS
