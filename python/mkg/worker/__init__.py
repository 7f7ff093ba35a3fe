"""The resident worker: one process per store that owns the driver and the embedder.

`lifecycle` runs one winner among many starters; `server` takes the launcher's frames, `firings`
folds a hook that is registered twice, `answers` speaks to a waiting client within its budget,
`drain` brings the spool into the graph, `memory` keeps the connection and the model. `client` asks
a running worker.
"""
