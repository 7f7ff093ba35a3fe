"""Raw reading of the graph through a gate (security design, section 3; SEC-41..SEC-47).

`lexer` and `rules` decide on the text alone, `plan` on what the server would do, `reader` runs a
query inside every limit. Each layer holds what it can hold alone; none trusts the one before.
"""
