"""Who the words of a turn really come from, computed by code from what happened before them."""

import json
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any, Literal

from mkg.features.learnings.extract_pasted import hands_over
from mkg.features.learnings.extract_text import has_code_or_log

PASTED_OVER = 2048

AssistantOrigin = Literal["assistant_clean", "assistant_local", "assistant_tainted"]

_LOCAL_TOOLS = frozenset(
    {
        "Read",
        "Edit",
        "Write",
        "MultiEdit",
        "NotebookRead",
        "NotebookEdit",
        "Glob",
        "Grep",
        "LS",
        "TodoWrite",
        "TodoRead",
        "TaskCreate",
        "TaskUpdate",
        "ExitPlanMode",
        "EnterPlanMode",
        "AskUserQuestion",
        "apply_patch",
        "update_plan",
        "view_image",
        "read_file",
        "list_dir",
        "grep_files",
    }
)
_SHELL_TOOLS = frozenset(
    {"Bash", "shell", "local_shell", "exec_command", "shell_command", "unified_exec"}
)
_NETWORK = re.compile(
    r"https?://|(?<![\w./-])(?:curl|wget|ssh|scp|sftp|rsync|ftp|telnet|nc|ncat|netcat|gh|glab|hub"
    r"|aws|gcloud|az|gsutil|"
    r"kubectl|helm|terraform|psql|mysql|redis-cli|mongosh|npx|pnpx|bunx|uvx|pipx|lynx|w3m|httpie"
    r"|http|dig|nslookup|ping)(?![\w-])"
    r"|\bgit\s+(?:\S+\s+){0,3}(?:clone|fetch|pull|push|ls-remote|submodule|remote\s+(?:show"
    r"|update))\b"
    r"|\b(?:npm|pnpm|yarn|bun|pip3?|uv|poetry|cargo|go|gem|bundle|composer|brew|apt|apt-get|dnf"
    r"|yum|apk|conda|mvn|gradle)\s+"
    r"(?:\S+\s+){0,2}(?:install|i|add|update|upgrade|view|info|show|search|download|get|fetch"
    r"|publish|audit|sync|ci|create|x)\b"
    r"|\bdocker\s+(?:\S+\s+){0,2}(?:pull|push|run|build|compose|search)\b|\burllib"
    r"|\brequests\.(?:get|post)|\bfetch\("
)
_FOREIGN_FOLDER = re.compile(
    r"(?:^|[\s\"'=:/(])(?:node_modules|site-packages|dist-packages|vendor|vendored|third[_-]party"
    r"|\.venv|venv|bower_components"
    r"|\.cargo|gopath|\.m2|Pods)/"
)
_OUTSIDE = re.compile(
    r"(?:^|[\s\"'=:(])(?:~|\$HOME|\$\{HOME\}|/(?:etc|var|tmp|proc|sys|mnt|media|root|srv"
    r"|usr/(?!bin/|local/bin/))(?:/|\b)|\.\./)"
)
_PATH_KEYS = ("file_path", "path", "notebook_path", "directory", "dir_path", "cwd", "workdir")
_RAW_PATH = re.compile(r"\"(?:file_path|path|notebook_path)\"\s*:\s*\"([^\"]{1,1000})\"")


RANKS = (
    "user_typed",
    "user_pasted",
    "assistant_clean",
    "assistant_local",
    "import",
    "tool",
    "mcp_write",
    "assistant_tainted",
)
"""Origins, the most trusted first."""


def worst(origins: Sequence[str]) -> str:
    """The least trusted of some origins; an unknown one is the least of all."""
    return max(origins, key=_rank)


def no_better_than(origin: str) -> list[str]:
    """The origins that `origin` may speak against: its own and every less trusted one."""
    return [one for one in RANKS if _rank(one) >= _rank(origin)]


def _rank(origin: str) -> int:
    return RANKS.index(origin) if origin in RANKS else len(RANKS)


def prompt_origin(prompt: str, source: str | None) -> str:
    """Return `user_typed` for short plain words of a person, `user_pasted` for everything else."""
    if source not in (None, "", "user"):
        return "user_pasted"
    size = len(prompt.encode("utf-8", "surrogatepass"))
    if size > PASTED_OVER or has_code_or_log(prompt) or hands_over(prompt):
        return "user_pasted"
    return "user_typed"


def assistant_origin(
    tool_turns_since_user: Sequence[tuple[str, str]], *, root: str | None = None
) -> AssistantOrigin:
    """Return the origin of an assistant's words from the (name, input) of the tools before them.

    With `root`, a path outside that folder counts as external; without it, only paths that name
    a place no checkout is kept in, and folders of packages, do.
    """
    worst: AssistantOrigin = "assistant_clean"
    for name, tool_input in tool_turns_since_user:
        if _external(name, tool_input, root):
            return "assistant_tainted"
        worst = "assistant_local"
    return worst


def _external(name: str, tool_input: str, root: str | None) -> bool:
    """Tell whether a tool call could have brought in text from outside the user's checkout."""
    value = _parsed(tool_input)
    if name in _SHELL_TOOLS:
        command = _command(value, tool_input)
        return bool(_NETWORK.search(command)) or _outside(command, None)
    if name not in _LOCAL_TOOLS:
        # Unknown tools, the web, other servers and our own recall all speak with others' words.
        return True
    paths = [value[key] for key in _PATH_KEYS if isinstance(value.get(key), str)]
    if not value and tool_input.strip() not in ("", "{}"):
        # An input cut short is no JSON any more, and a path nobody can see may lead anywhere.
        paths = [match.group(1) for match in _RAW_PATH.finditer(tool_input)]
        return not paths or any(_outside(path, root) for path in paths)
    return any(_outside(path, root) for path in paths)


def _outside(path: str, root: str | None) -> bool:
    if _FOREIGN_FOLDER.search(path):
        return True
    if root is None:
        return bool(_OUTSIDE.search(path))
    if path.startswith("~") or ".." in PurePosixPath(path).parts:
        return True
    return path.startswith("/") and not PurePosixPath(path).is_relative_to(root)


def _parsed(tool_input: str) -> dict[str, Any]:
    try:
        value: Any = json.loads(tool_input) if tool_input else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _command(value: dict[str, Any], tool_input: str) -> str:
    found = value.get("command", value.get("cmd"))
    if isinstance(found, list):
        return " ".join(str(part) for part in found)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return found if isinstance(found, str) else tool_input
