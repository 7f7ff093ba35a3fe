"""README names what a user can call or set, and the tree holds nothing that must not be there."""

import importlib
import importlib.util
import itertools
import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support.requirement import requirement

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TOP_LEVEL = frozenset(
    {
        *("pyproject.toml", "cypher", "gds", "python", "hooks", "plugin", "migrations", "tests"),
        *(
            "README.md",
            "CONTRIBUTING.md",
            "CHANGELOG.md",
            "LICENSE",
            "Makefile",
            "requirements.lock",
        ),
        *("compose.yaml", "Dockerfile", ".env.example", ".ci", ".gitignore", ".gitattributes"),
        *(".claude-plugin", ".codex-plugin", ".agents"),
        "gemini-extension.json",
    }
)
MANIFESTS = {"plugin.json", "marketplace.json", "gemini-extension.json"}
# Written in pieces, so that this file does not hold what it looks for.
REGISTRY_HOSTS = (
    "pypi" + ".org",
    "python" + "hosted.org",
    "registry.npm" + "js.org",
    "registry.yarn" + "pkg.com",
    "repo1." + "maven.org",
    "repo.maven." + "apache.org",
    "static.crates" + ".io",
    "proxy.golang" + ".org",
    "deb.debian" + ".org",
)
# Where this checkout lies: no file may name it. A short path would be found by accident.
MACHINE = (str(ROOT),) if len(ROOT.parts) > 2 else ()


def _tree() -> list[Path]:
    """Files that are in the repository or would be with the next commit."""
    listed = subprocess.run(
        # A clone may belong to another user than the one who tests it.
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = (ROOT / name for name in listed.stdout.decode("utf-8").split("\0") if name)
    return [path for path in paths if path.is_symlink() or path.exists()]


@pytest.fixture(scope="module")
def tree() -> list[Path]:
    return _tree()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _module(name: str) -> ModuleType:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not here yet")
    return importlib.import_module(name)


def _first_cells(heading: str) -> list[str]:
    """The code spans in the first column of the table under a heading."""
    section = re.split(r"^## ", README, flags=re.MULTILINE)
    body = next((part for part in section if part.startswith(heading + "\n")), "")
    rows = [line.split("|")[1] for line in body.splitlines() if line.startswith("| `")]
    return [name for cell in rows for name in re.findall(r"`([^`]+)`", cell)]


# --- README and the registries -----------------------------------------------------------------


def _commands() -> Iterator[str]:
    import typer.main

    def walk(command: object, path: str) -> Iterator[str]:
        inner = getattr(command, "commands", None)
        if inner is None or getattr(command, "invoke_without_command", False):
            yield path
        for name, child in sorted((inner or {}).items()):
            if not child.hidden:
                yield from walk(child, f"{path} {name}")

    yield from walk(typer.main.get_command(_module("mkg.cli").app), "mkg")


@requirement("MEM-W76")
def test_every_command_is_in_the_readme_and_no_other():
    shown = [
        " ".join(re.split(r" [A-Z<\[-]", name)[0].split()) for name in _first_cells("Commands")
    ]
    assert sorted(set(shown)) == sorted(set(_commands()) - {"mkg"})


@requirement("ENC-W71")
def test_every_option_that_the_readme_tells_of_a_command_is_one_of_it():
    import typer.main

    root, looked = typer.main.get_command(_module("mkg.cli").app), 0
    for line in README.splitlines():
        spans = re.findall(r"`([^`]+)`", line)
        options: set[str] = {"--help"}
        for words in (span.split() for span in spans if span.startswith("mkg ")):
            options |= _options(root, words[1:])
        told = {word for span in spans for word in re.findall(r"--[a-z][a-z-]*", span)}
        if len(options) > 1 and line.startswith("| `mkg"):
            assert told <= options, line
            looked += len(told)
    assert looked >= 20


def _options(command: Any, words: list[str]) -> set[str]:
    """The options of a command, and of all below it."""
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    below = [_options(child, []) for child in getattr(command, "commands", {}).values()]
    return {opt for parameter in command.params for opt in parameter.opts}.union(*below)


@requirement("ENC-W51")
def test_one_name_of_the_database_is_the_default_everywhere():
    settings = _module("mkg.settings")
    name = settings.StoreSettings().database
    (told,) = [line for line in README.splitlines() if line.startswith("| `NEO4J_DATABASE` |")]
    assert told.split("|")[2].strip().strip("`") == name
    asked = (ROOT / "python" / "mkg" / "cli" / "setup.py").read_text(encoding="utf-8")
    assert f'("NEO4J_DATABASE", "{name}")' in asked
    assert "initial.dbms.default__database" not in (ROOT / "compose.yaml").read_text("utf-8")


@requirement("ENC-W59")
def test_the_template_of_settings_parses_and_names_what_the_compose_file_takes():
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    named = [re.fullmatch(r"#? ?([A-Z][A-Z0-9_]*)=\S*", line) for line in lines]
    names = {found[1] for found in named if found}
    prose = [line for line, found in zip(lines, named, strict=True) if not found]
    assert all(line.startswith("# ") and "=" not in line for line in prose)
    taken = re.findall(r"(?<!\$)\$\{(\w+)", (ROOT / "compose.yaml").read_text(encoding="utf-8"))
    assert names == set(taken) != set()


@requirement("ENC-W40")
def test_the_path_of_the_listener_is_the_one_that_the_readme_tells():
    path = _module("mkg.server.door").PATH
    told = set(re.findall(r"http://127\.0\.0\.1:\d+(/\S*?)[`\"\s]", README))
    assert told == {path}


@requirement("SEC-61")
def test_no_shell_reads_what_the_product_starts(tree):
    shells = re.compile(r"shell=True|os\.system\(|os\.popen\(|getoutput\(|create_subprocess_shell")
    assert shells.search("run(x, shell=True)")
    code = [
        path for path in tree if path.suffix == ".py" and path.parts[len(ROOT.parts)] != "tests"
    ]
    assert len(code) > 100
    assert [str(path) for path in code if shells.search(_text(path))] == []


@requirement("MEM-T118", "CL-41")
def test_no_code_names_a_keychain_or_a_file_of_login_tokens(tree):
    stores = re.compile(
        r"credentials\.json|auth\.json|keychain|find-generic-password|keyring", re.I
    )
    assert stores.search("~/.claude/.credentials.json")
    code = [
        path for path in tree if path.suffix == ".py" and path.parts[len(ROOT.parts)] != "tests"
    ]
    found = {str(path.relative_to(ROOT)) for path in code if stores.search(_text(path))}
    # What the redactor calls a file of secrets, so that it is never kept.
    assert {name for name in found if "redact" not in name} == set()


@requirement("NEO-74")
def test_the_client_of_gds_belongs_to_its_extra(tree):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert not [name for name in project["dependencies"] if name.startswith("graphdatascience")]
    assert any(n.startswith("graphdatascience") for n in project["optional-dependencies"]["gds"])
    for path in tree:
        if path.suffix == ".py" and path.parts[len(ROOT.parts)] in {"python", "hooks"}:
            assert not re.search(r"^\s*(?:import|from) graphdatascience", _text(path), re.MULTILINE)


@requirement("ENC-W52")
def test_every_setting_is_in_the_readme_and_no_other():
    settings = _module("mkg.settings")
    variables = {*settings.VARIABLES.values(), *settings.FOLDER_VARIABLES.values()}
    keys = {*settings.PROJECT_KEYS, *settings.TRUSTED_KEYS}
    assert sorted(_first_cells("Settings")) == sorted(variables | keys)


@requirement("ENC-W52")
@pytest.mark.parametrize(
    "name", ["modules", "embedding_model", "recall_limit", "worker_idle_s", "spool_mb", "log_level"]
)
def test_a_setting_has_the_default_that_the_readme_tells(name):
    settings = _module("mkg.settings")
    default = settings.Settings.model_fields[name].default
    row = next(
        line for line in README.splitlines() if line.startswith(f"| `{settings.VARIABLES[name]}`")
    )
    told = row.split("|")[2].strip().strip("`")
    assert told == (",".join(default) if isinstance(default, tuple) else str(default))


@requirement("MEM-W76", "ENC-W86")
def test_every_tool_is_in_the_readme_and_no_other():
    server = _module("mkg.server")
    assert sorted(_first_cells("MCP tools")) == sorted(tool.name for tool in server.TOOLS)


def test_every_hook_route_is_in_the_readme_and_no_other():
    path = ROOT / "hooks" / "routes.toml"
    routes = tomllib.loads(path.read_text(encoding="utf-8"))
    events = {name: row for name, row in routes.items() if isinstance(row, dict)}
    rows = {
        cells[1].strip(" `"): tuple(re.findall(r"`(\w+)`", cell) for cell in cells[2:4])
        for line in README.split("## Hook routes")[1].split("\n## ")[0].splitlines()
        if line.startswith("| `")
        for cells in [line.split("|")]
    }
    assert rows == {name: (row["foreground"], row["background"]) for name, row in events.items()}


def test_every_make_target_that_is_told_is_there():
    targets = set(re.findall(r"^([a-z-]+):", _text(ROOT / "Makefile"), flags=re.MULTILINE))
    texts = README + _text(ROOT / "CONTRIBUTING.md")
    # What a console block prints may speak of somebody else's targets; what it types may not.
    prose = re.sub(r"```.*?```", "", texts, flags=re.DOTALL)
    told = set(re.findall(r"make ([a-z-]+)", prose))
    told |= set(re.findall(r"^\$ make ([a-z-]+)", texts, flags=re.MULTILINE))
    assert told and told <= targets


# --- the tree ----------------------------------------------------------------------------------


def test_the_top_level_holds_what_belongs_there(tree):
    assert {path.relative_to(ROOT).parts[0] for path in tree} <= TOP_LEVEL


def test_there_is_no_symlink_in_the_tree(tree):
    assert [path for path in tree if path.is_symlink()] == []


def test_no_file_is_in_the_tree_twice(tree):
    found: dict[bytes, Path] = {}
    twice = []
    for path in tree:
        content = path.read_bytes() if path.is_file() else b""
        if len(content) > 200 and content in found:
            twice.append((found[content], path))
        found[content] = path
    assert twice == []


@pytest.mark.parametrize("needle", [*REGISTRY_HOSTS, *MACHINE, str(Path.home()) + "/."])
def test_no_file_names_a_registry_or_the_machine_it_was_made_on(tree, needle):
    holders = [
        path for path in tree if needle.encode() in (path.read_bytes() if path.is_file() else b"")
    ]
    assert holders == []


def test_every_folder_that_the_wheel_takes_has_a_file_in_it(tree):
    for folder in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]:
        assert any((ROOT / folder) in path.parents for path in tree), (
            f"{folder}/ is empty in a clone"
        )


def test_the_licence_is_the_one_that_is_declared():
    assert PROJECT["project"]["license"] == "Apache-2.0"
    text = _text(ROOT / "LICENSE")
    assert "Apache License" in text and "END OF TERMS AND CONDITIONS" in text and len(text) > 11_000


@requirement("MEM-T115")
def test_every_manifest_names_the_same_version(tree):
    manifests = [path for path in tree if path.name in MANIFESTS]
    named = [v for path in manifests for v in _versions(json.loads(_text(path)))]
    assert named and set(named) == {PROJECT["project"]["version"]}


def _versions(manifest: dict) -> Iterator[str]:
    if "version" in manifest:
        yield manifest["version"]
    yield from (plugin["version"] for plugin in manifest.get("plugins", []) if "version" in plugin)


def test_the_changelog_has_one_open_section():
    text = _text(ROOT / "CHANGELOG.md")
    assert re.findall(r"^## (.+)$", text, flags=re.MULTILINE).count("Unreleased") == 1


# --- the lock ----------------------------------------------------------------------------------


def _locked() -> dict[str, list[tuple[str, int]]]:
    """Package -> its pins, one or one a Python version, and how many hashes each has."""
    found: dict[str, list[tuple[str, int]]] = {}
    text = _text(ROOT / "requirements.lock").replace("\\\n", " ")
    for line in filter(None, map(str.strip, text.splitlines())):
        match = re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", line)
        assert match, f"not a pin: {line[:60]}"
        name = canonicalize_name(match[1])
        found.setdefault(name, []).append((match[2], line.count("--hash=sha256:")))
    return found


@requirement("CL-42")
def test_the_lock_pins_every_dependency_by_hash_and_names_no_index():
    text, locked = _text(ROOT / "requirements.lock"), _locked()
    assert not re.search(
        r"https?:|--index|--extra-index|--find-links|--trusted-host|^-", text, flags=re.MULTILINE
    )
    assert all(
        hashes > 0 and "+" not in version for pins in locked.values() for version, hashes in pins
    )
    project = PROJECT["project"]
    optional = project["optional-dependencies"]
    assert not any(Requirement(line).name == "litellm" for line in project["dependencies"])
    for line in itertools.chain(project["dependencies"], *optional.values()):
        wanted = Requirement(line)
        pins = locked.get(canonicalize_name(wanted.name), [])
        assert pins, f"{wanted.name} is not locked; run `make lock`"
        assert all(wanted.specifier.contains(Version(version)) for version, _ in pins), (
            f"{line}: run `make lock`"
        )
