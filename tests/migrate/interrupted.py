"""A runner in a process of its own, to be killed: argv is URI, user, password and folder."""

import sys
from pathlib import Path

from mkg.db import Neo4jRunner
from mkg.migrate import apply_all, lease


def main() -> None:
    uri, user, password, root = sys.argv[1:]
    # A short lease, so that the test need not wait for a dead holder's.
    lease.TTL_SECONDS = 1.0
    with Neo4jRunner(uri, (user, password), "neo4j", caller="killed") as run:
        apply_all(run, root=Path(root), progress=lambda line: print(line, flush=True))


if __name__ == "__main__":
    main()
