"""Who the user is: a setting, Claude Code's account file, git's e-mail, the system's user.

The account file counts in every client: one person has one id, or what was said in one client would
not be known in another. Login tokens are never opened (Codex keeps its e-mail inside one).
"""

import getpass
import json
import re
from dataclasses import dataclass
from pathlib import Path

from mkg.settings import Settings

_MAX_FILE = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Person:
    """A user's id and where it came from."""

    id: str
    source: str


def resolve(settings: Settings) -> Person:
    """The user behind a session, whichever client it runs in."""
    if settings.user_id:
        explicit = _normal(settings.user_id)
        if explicit:
            return Person(explicit, "MKG_USER_ID")
    account = _claude_account()
    if account:
        return Person(account, "claude account")
    email = _git_email()
    if email:
        return Person(email, "git user.email")
    try:
        return Person(_normal(getpass.getuser()) or "unknown", "system user")
    except (OSError, KeyError):
        return Person("unknown", "none")


def _normal(text: str) -> str | None:
    """Lower case, no white space, at most 254 characters; None when nothing is left."""
    made = re.sub(r"\s+", "", text).lower()
    return made if 0 < len(made) <= 254 else None


def _claude_account() -> str | None:
    path = Path.home() / ".claude.json"
    try:
        if path.stat().st_size > _MAX_FILE:
            return None
        data = json.loads(path.read_text(encoding="utf-8"))
        email = data["oauthAccount"]["emailAddress"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return _normal(email) if isinstance(email, str) else None


def _git_email() -> str | None:
    for path in (Path.home() / ".gitconfig", Path.home() / ".config" / "git" / "config"):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")[:65536]
        except OSError:
            continue
        section = re.search(r"^\[user\]\s*$(.*?)(?=^\[|\Z)", text, re.M | re.S)
        found = re.search(r"^\s*email\s*=\s*\"?([^\"\n#;]+)", section[1], re.M) if section else None
        if found:
            return _normal(found[1])
    return None
