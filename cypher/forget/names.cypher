// @query   forget.names
// @since   0.2.0
// @mode    read
// @card    many
// @param   before      ZONED DATETIME NOT NULL  when it was forgotten
// @return  id          STRING NOT NULL
// @return  text        STRING
// @locks   none
// @allow   NodeByLabelScan  a receipt knows hashes only, so every id is compared with them
// @why     What a receipt is compared with: sessions that still hold what was said before, and
//          learnings but those of which a refusal alone was kept.
CALL () {
  MATCH (s:Session)
  WHERE
    EXISTS {
      MATCH (s)-[:HAS_EVENT]->(e:SessionEvent)
      WHERE e.erased_at IS NULL AND e.timestamp < $before
    }
  RETURN s.session_id AS id, null AS text
    UNION
  MATCH (l:Learning)
  WHERE coalesce(l.rejected_reason, '') <> 'forgotten' AND l.created_at < $before
  RETURN l.id AS id, l.text AS text
}
RETURN id, text
ORDER BY id
