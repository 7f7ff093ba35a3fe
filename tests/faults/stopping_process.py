"""What a worker does at stops, for many sessions, at the same moment as its like.

python stopping_process.py URI PASSWORD GO PROJECT:SESSION...; starts when the file GO is there.
"""

import sys
import time
from functools import partial
from pathlib import Path

from mkg.db import Neo4jRunner
from mkg.features import learnings, lease
from mkg.features.gate.rules import Rules
from mkg.features.gate.sweep import sweep
from mkg.features.learnings import windows
from mkg.features.learnings.write import Owner
from mkg.features.timeline import episode

TTL_MS = 1500

if __name__ == "__main__":
    uri, password, go, *sessions = sys.argv[1:]
    windows.leased = partial(lease.leased, ttl_ms=TTL_MS)
    with Neo4jRunner(uri, ("neo4j", password), "neo4j") as run:
        run.verify()
        print("ready", flush=True)
        while not Path(go).exists():
            time.sleep(0.01)
        for name in sessions:
            project, _, session = name.partition(":")
            owner = Owner(project, "ann")
            windows.learn(run, None, session_id=session, owner=owner)
            episode.record(run, None, session_id=session)
            keys = [str(owner.key("project"))]
            sweep(run, None, learnings.embed, owner_keys=keys, rules=Rules())
    print("done", flush=True)
