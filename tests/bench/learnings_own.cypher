// Hand a share of the learnings to an owner: those whose number falls below the share, in hundredths.
MATCH (l:Learning)
WHERE toInteger(split(split(l.id, '-')[0], 'b')[1]) % 100 < $percent
CALL (l) {
  SET l.owner_key = $owner_key, l.owner_token = $owner_token
} IN TRANSACTIONS OF 2000 ROWS
