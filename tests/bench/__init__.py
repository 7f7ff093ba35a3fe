"""`make bench`: ratios of medians over interleaved rounds, on the real server."""
