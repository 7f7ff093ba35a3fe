// One copy of each learning of a tenth, with the same words and a vector nearby: synthetic, as above 10,000 no text is embedded.
// In one map: a copy that had the id of its learning for a moment would break the constraint.
MATCH (l:Learning)
WHERE l.source = 'bench' AND toInteger(substring(l.id, 1)) % 10 = $tenth
CALL (l) {
  WITH l, l.id + '-' + $number AS id
  CREATE (copy:Learning)
  SET copy = l {
    .*, id: id, value_key: id, short_id: id, source: 'bench-copy', text: l.text + ' Variant ' + $number + '.',
    frame_key: l.frame_key + $number, words_key: l.words_key + $number, terms: l.terms + ' variant' + $number, embedding: [x IN l.embedding | x + 0.12 * (rand() - 0.5)]
  }
} IN TRANSACTIONS OF 500 ROWS
