"""The links from a client's files to the launcher: interpreter, pointer, script, hook lines."""

# JSON of a stranger has no types until it is looked at.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

import json
import os
import re
import shlex
import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from mkg.doctor import Link
from mkg.install import lines, plan, toml_text
from mkg.install.clients import CLIENTS
from mkg.install.ledger import Install, Ledger
from mkg.pointer import pointer_lines
from mkg.settings import Settings, subprocess_env
from mkg_hooks import launcher

if TYPE_CHECKING:
    from mkg.doctor import Look

OLDEST = (3, 11)
RENEW = "mkg config"
POINTER = {
    "missing": "there is none: hooks cannot find the program",
    "refused": "others could have written it, or it is damaged",
    "inside": "it lies inside the folder of this project",
}


def interpreter(settings: Settings) -> Link:
    """The Python that runs the hooks."""
    script = lines.read_script(settings)
    named = re.search(r"^python=(.*)$", script or "", re.MULTILINE)
    words = shlex.split(named[1]) if named else []
    python = words[0] if words and os.access(words[0], os.X_OK) else "python3"
    code = "import sys; print(sys.version_info[0], sys.version_info[1])"
    try:
        done = subprocess.run(
            [python, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=3, check=True
        )
        version = tuple(int(part) for part in done.stdout.split())
    except (OSError, ValueError, subprocess.SubprocessError):
        return Link("interpreter", "broken", f"{python} does not run", RENEW)
    told = ".".join(map(str, version))
    if version < OLDEST:
        return Link(
            "interpreter",
            "warning",
            f"{python} is {told}: hooks need the worker to keep an event while it is away",
            RENEW,
        )
    return Link("interpreter", "ok", f"{python} is {told}")


def home(settings: Settings) -> Link:
    """The folder with all state: the user's alone."""
    path = settings.home
    try:
        found = path.stat()
    except FileNotFoundError:
        return Link("home", "broken", f"{path} is not there", RENEW)
    if found.st_uid != os.geteuid():
        return Link("home", "broken", f"{path} belongs to somebody else", "mkg setup")
    if stat.S_IMODE(found.st_mode) & 0o077:
        return Link("home", "broken", f"{path} is open to others", f"chmod 700 {_quote(path)}")
    return Link("home", "ok", str(path))


def pointer(settings: Settings) -> Link:
    """The file by which hooks find program, socket and spool."""
    path = settings.paths.pointer
    try:
        env = {os.fsencode(k): os.fsencode(v) for k, v in subprocess_env().items()}
        found = launcher.read_pointer(os.fsencode(settings.home), env)
    except launcher.Refused as refusal:
        reason = str(refusal)
        repair = RENEW
        if reason == "refused":
            repair = f"rm -f {_quote(path)} && {RENEW}"
        return Link("pointer", "broken", POINTER[reason], repair)
    if not os.access(found["python"], os.X_OK):
        return Link("pointer", "broken", "it names a Python that is gone", RENEW)
    wanted = pointer_lines(settings)
    differs = [k for k, v in wanted.items() if found.get(k) != os.fsencode(v)]
    if differs:
        return Link("pointer", "warning", f"out of date: {', '.join(differs)}", RENEW)
    return Link("pointer", "ok", str(path))


def script(settings: Settings) -> Link:
    """The script that hook lines call."""
    found = lines.read_script(settings)
    installs = Ledger(settings.home).installs
    if found is None and not installs:
        return Link("script", "ok", "not needed: no client is registered by `mkg install`")
    if found is None:
        return Link(
            "script", "broken", "it is gone: every hook line does nothing", _again(installs)
        )
    if found != lines.script_text(settings):
        return Link("script", "warning", "out of date: the program has moved", RENEW)
    return Link("script", "ok", str(lines.script_path(settings)))


def hooks(settings: Settings) -> Link:
    """The lines in the files of every registered client."""
    installs = Ledger(settings.home).installs
    if not installs:
        plugins = _plugins()
        if plugins:
            return Link("hooks", "ok", f"plugin of {', '.join(plugins)}")
        return Link("hooks", "warning", "no client is registered", "mkg install claude")
    for install in installs:
        for path, how in plan.state(settings, install).items():
            if how != "whole":
                return Link("hooks", "broken", f"{path}: ours is {how}", _again([install]))
    twice = sorted({i.client for i in installs} & set(_plugins()))
    if twice:
        return Link(
            "hooks",
            "warning",
            f"{twice[0]} has the plugin too: every event is handed over twice and kept once",
            f"mkg uninstall {twice[0]} --yes",
        )
    return Link("hooks", "ok", ", ".join(f"{i.client} ({i.scope})" for i in installs))


def trust(settings: Settings) -> Link:
    """Whether Codex was told to trust the hooks: it skips the others without a word."""
    for install in Ledger(settings.home).installs:
        if install.client != "codex":
            continue
        file = next(f.path for f in install.files if f.hooks)
        config = CLIENTS["codex"].home(subprocess_env()) / "config.toml"
        missing = untrusted(Path(file), config)
        if missing:
            return Link(
                "trust",
                "warning",
                f"Codex has not been told to trust {len(missing)} hook(s): {', '.join(missing)}",
                "codex   (and type /hooks)",
            )
    return Link("trust", "ok", "nothing waits for it")


def untrusted(file: Path, config: Path) -> list[str]:
    """The events of ours in a hooks file that Codex keeps no trust for.

    The key of a hook is its file, event, group and place in the group; what it hashes is Codex's.
    """
    try:
        state = toml_text.parse(config.read_text("utf-8")).get("hooks", {}).get("state", {})
    except (OSError, ValueError):
        state = {}
    missing: list[str] = []
    groups = json.loads(file.read_text("utf-8"))["hooks"]
    for event in CLIENTS["codex"].events:
        for at, group in enumerate(groups.get(event, [])):
            for n, hook in enumerate(group.get("hooks", [])):
                if lines.line_of_ours(hook.get("command"), "codex") is None:
                    continue
                name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()
                key = f"{file}:{name}:{at}:{n}"
                if not state.get(key, {}).get("trusted_hash"):
                    missing.append(event)
    return missing


def _plugins() -> list[str]:
    """The clients that have our plugin from a marketplace."""
    found: list[str] = []
    env = subprocess_env()
    for name, file in (("claude", "settings.json"), ("codex", "config.toml")):
        path = CLIENTS[name].home(env) / file
        try:
            text = path.read_text(encoding="utf-8")
            data = json.loads(text) if name == "claude" else toml_text.parse(text)
        except (OSError, ValueError):
            continue
        table = data.get("enabledPlugins" if name == "claude" else "plugins", {})
        entries = [v for k, v in table.items() if k.startswith("mkg@")]
        if any(v is True or (isinstance(v, dict) and v.get("enabled")) for v in entries):
            found.append(name)
    return found


def _again(installs: list[Install]) -> str:
    first = installs[0]
    there = f"cd {_quote(Path(first.folder))} && " if first.folder else ""
    return f"{there}mkg install {first.client} --scope {first.scope} --yes"


def _quote(path: Path) -> str:
    return shlex.quote(str(path))


LOOKS: "list[tuple[str, Look]]" = [
    ("interpreter", interpreter),
    ("home", home),
    ("pointer", pointer),
    ("script", script),
    ("hooks", hooks),
    ("trust", trust),
]
