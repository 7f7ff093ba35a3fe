// @query   ops.prove_gds
// @since   0.1.0
// @mode    read
// @card    one
// @return  version  STRING NOT NULL
// @return  bytes    INTEGER NOT NULL
// @locks   none
// @uses    gds.version, gds.pageRank.stream.estimate
// @why     An estimate over a made-up graph runs the algorithm's own code and needs no projection.
CALL
  gds.pageRank.stream.estimate(
    {nodeCount: 100, relationshipCount: 200, nodeProjection: '*', relationshipProjection: '*'},
    {}
  )
  YIELD bytesMax
RETURN gds.version() AS version, bytesMax AS bytes
