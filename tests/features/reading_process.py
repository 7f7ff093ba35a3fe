"""Reads a session with a model: python reading_process.py URI PASSWORD BASE SESSION."""

import sys
from pathlib import Path

from mkg.db import Neo4jRunner
from mkg.features.gate.rules import Rules
from mkg.features.learnings.windows import learn
from mkg.features.learnings.write import Owner
from tests.support.embedding import minilm
from tests.support.learned import SHOP
from tests.support.models import Account, asking, model_settings

if __name__ == "__main__":
    uri, password, base, session = sys.argv[1:]
    settings = model_settings(Path(), model="openai/x", base_url=base, retries=0)
    with Neo4jRunner(uri, ("neo4j", password), "neo4j") as run:
        rules = Rules(model=asking(settings, Account()))
        owner = Owner(SHOP, "ann")
        found = learn(run, minilm(), session_id=session, owner=owner, rules=rules)
        print(found.events)
