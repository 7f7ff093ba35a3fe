"""What of ours stands in a client's file, putting it there, and taking it out.

Each edit of the text is checked by its meaning: the new text must say exactly what the old one
said, plus or minus ours. A file that cannot be edited so is refused and left alone.
"""

# JSON of a stranger has no types until it is looked at.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnnecessaryIsInstance=false

import copy
import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mkg.errors import ConfigError, Refused
from mkg.install import json_text, lines, toml_text
from mkg.install.clients import SERVER, Client, Place, Scope


@dataclass(frozen=True, slots=True)
class Ours:
    """What one installation puts into one file."""

    client: Client
    place: Place
    script: Path
    scope: Scope

    @property
    def hooks(self) -> dict[str, dict[str, Any]]:
        """Event -> the member of its list."""
        if not self.place.hooks:
            return {}
        made = self.client
        return {
            event: made.entry(made.line(self.script, event, self.scope), seconds)
            for event, seconds in made.events.items()
        }

    @property
    def server(self) -> Any:
        """The server's entry, or None."""
        if self.place.servers is None:
            return None
        return self.client.server_entry(self.script, self.scope)


def read(ours: Ours, text: str) -> dict[str, Any]:
    """What a file says.

    Raises:
        ConfigError: it is not JSON or TOML, or not of the form that its client reads.
    """
    path = ours.place.path
    try:
        if ours.place.toml:
            return toml_text.parse(text)
        value = json_text.parse(text).value if text.strip("\ufeff \t\r\n") else {}
    except (json_text.Unreadable, tomllib.TOMLDecodeError) as error:
        kind = "TOML" if ours.place.toml else "JSON"
        raise ConfigError(
            f"{path} is not readable {kind} ({error}); repair it and run the command again. "
            "Nothing was changed"
        ) from None
    hooks = value.get("hooks", {}) if isinstance(value, dict) else None
    known = ours.client.events
    fits = isinstance(hooks, dict) and all(
        isinstance(members, list) for event, members in hooks.items() if event in known
    )
    servers = _servers(value, ours.place) if fits else {}
    if not fits or not isinstance(servers, dict):
        raise ConfigError(
            f"{path} does not have the form that {ours.client.label} reads; repair it and run the "
            "command again. Nothing was changed"
        )
    return value


def _servers(value: dict[str, Any], place: Place) -> Any:
    return value.get(place.servers[0], {}) if place.servers else {}


def is_whole(ours: Ours, text: str) -> bool:
    """Say whether everything of ours is there, once, and as it should be."""
    value = read(ours, text)
    found = [(event, entry) for event, _, entry in _own(ours, value)]
    if found != [(e, ours.hooks.get(e)) for e, _ in found] or len(found) != len(ours.hooks):
        return False
    return len(dict(found)) == len(found) and _server_fits(ours, value)


def _server_fits(ours: Ours, value: dict[str, Any]) -> bool:
    wanted = ours.server
    if wanted is None:
        return True
    if ours.place.toml:
        wanted = _table(toml_text.parse(wanted))
    entry = _servers(value, ours.place).get(SERVER)
    return isinstance(entry, dict) and all(entry.get(k) == v for k, v in wanted.items())


def _table(data: dict[str, Any]) -> dict[str, Any]:
    return data["mcp_servers"][SERVER]


def is_there(ours: Ours, text: str) -> bool:
    """Say whether anything of ours is there."""
    value = read(ours, text)
    entry = _servers(value, ours.place).get(SERVER) if ours.place.servers else None
    return bool(_own(ours, value)) or lines.server_of_ours(entry)


def _own(ours: Ours, value: dict[str, Any]) -> list[tuple[str, tuple[int, ...], Any]]:
    """Every hook of ours: event, place in its list (with the place in its group), member.

    A group that holds a hook of somebody else's too keeps that one.
    """
    found: list[tuple[str, tuple[int, ...], Any]] = []
    if not ours.place.hooks:
        return found
    for event, members in value.get("hooks", {}).items():
        for at, member in enumerate(members if isinstance(members, list) else ()):
            if not isinstance(member, dict):
                continue
            inner = member.get("hooks")
            handlers = inner if isinstance(inner, list) else [member]
            mine = [n for n, handler in enumerate(handlers) if _is_ours(handler, ours.client)]
            if mine and len(mine) == len(handlers):
                found.append((event, (at,), member))
            elif mine:
                found.extend((event, (at, n), handlers[n]) for n in mine)
    return found


def _is_ours(handler: Any, client: Client) -> bool:
    if not isinstance(handler, dict):
        return False
    command = handler.get("command", handler.get("bash"))
    return lines.line_of_ours(command, client.name) is not None


def put(ours: Ours, text: str | None) -> str:
    """The text with ours in it; the same text when all is there.

    Raises:
        ConfigError: the file is broken.
        Refused: it has a server of that name which is not ours, or cannot be edited safely.
    """
    if text is not None and is_whole(ours, text):
        return text
    if ours.place.toml:
        return _put_table(ours, text or "")
    if text is None or not text.strip("\ufeff \t\r\n"):
        return json.dumps(_with(ours, dict(ours.client.base)), indent=2, ensure_ascii=False) + "\n"
    old = read(ours, text)
    own_server = dict(_servers(old, ours.place).get(SERVER, {})) if ours.place.servers else {}
    bare = take(ours, text, keep=old) if is_there(ours, text) else text
    _refuse_stranger(ours, read(ours, bare))
    wanted = _with(ours, read(ours, bare), own_server)
    after = bare
    for event, entry in ours.hooks.items():
        here = read(ours, after)
        if "hooks" not in here:
            after = json_text.put(after, (), "hooks", {event: [entry]})
        elif event not in here["hooks"]:
            after = json_text.put(after, ("hooks",), event, [entry])
        else:
            after = json_text.put(after, ("hooks", event), None, entry)
    if ours.place.servers:
        (top,) = ours.place.servers
        entry = wanted[top][SERVER]
        if top not in read(ours, after):
            after = json_text.put(after, (), top, {SERVER: entry})
        else:
            after = json_text.put(after, (top,), SERVER, entry)
    return _checked(ours, after, wanted)


def _with(ours: Ours, value: dict[str, Any], kept: dict[str, Any] | None = None) -> dict[str, Any]:
    """The value with ours in it; `kept` holds what a person added to our server's entry."""
    value = copy.deepcopy(value)
    for event, entry in ours.hooks.items():
        value.setdefault("hooks", {}).setdefault(event, []).append(entry)
    if ours.place.servers:
        value.setdefault(ours.place.servers[0], {})[SERVER] = {**(kept or {}), **ours.server}
    return value


def _put_table(ours: Ours, text: str) -> str:
    value = read(ours, text)
    _refuse_stranger(ours, value)
    wanted = copy.deepcopy(value)
    table = wanted.setdefault("mcp_servers", {}).setdefault(SERVER, {})
    table.update(_table(toml_text.parse(ours.server)))
    if SERVER in value.get("mcp_servers", {}):
        after = toml_text.renew(text, f"mcp_servers.{SERVER}", ours.server)
    else:
        after = toml_text.add(text, ours.server)
    return _checked(ours, after, wanted)


def _refuse_stranger(ours: Ours, value: dict[str, Any]) -> None:
    entry = _servers(value, ours.place).get(SERVER) if ours.place.servers else None
    if entry is not None and not lines.server_of_ours(entry):
        raise Refused(
            f"{ours.place.path} already names a server `{SERVER}` that is not of this program; "
            "rename or remove it first. Nothing was changed"
        )


def take(ours: Ours, text: str, keep: dict[str, Any] | None = None) -> str:
    """The text without ours. Containers that this empties go too, unless `keep` has them.

    Raises:
        ConfigError: the file is broken.
        Refused: it cannot be edited safely.
    """
    value, keep = read(ours, text), keep or {}
    after, wanted = text, copy.deepcopy(value)
    if ours.place.toml:
        if lines.server_of_ours(_servers(value, ours.place).get(SERVER)):
            after = toml_text.cut(text, f"mcp_servers.{SERVER}", ours.server)
            del wanted["mcp_servers"][SERVER]
            if not wanted["mcp_servers"]:
                del wanted["mcp_servers"]
        return _checked(ours, after, wanted)
    paths: list[tuple[str | int, ...]] = []
    for event, place, _ in reversed(_own(ours, value)):
        inner: tuple[str | int, ...] = (place[0], "hooks", *place[1:]) if place[1:] else place
        paths.append(("hooks", event, *inner))
    paths += [("hooks", event) for event in {p[1]: None for p in paths}] + [("hooks",)] * bool(
        paths
    )
    if ours.place.servers and lines.server_of_ours(_servers(value, ours.place).get(SERVER)):
        paths += [(ours.place.servers[0], SERVER), (ours.place.servers[0],)]
    for path in paths:
        container = len(path) == 1 or (len(path) == 2 and path[0] == "hooks")
        if container and (_at(wanted, path) or _at(keep, path) is not None):
            continue
        after = json_text.take(after, path)
        del _at(wanted, path[:-1])[path[-1]]
    return _checked(ours, after, wanted)


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    """The value at a path, or None."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _checked(ours: Ours, after: str, wanted: dict[str, Any]) -> str:
    """The new text, if it means what it should."""
    try:
        same = read(ours, after) == wanted
    except ConfigError:
        same = False
    if not same:
        raise Refused(
            f"{ours.place.path} is written in a way that cannot be edited safely; put this in "
            f"(or take it out) by hand:\n{by_hand(ours)}\nNothing was changed"
        )
    return after


def by_hand(ours: Ours) -> str:
    """What a person would write into the file."""
    if ours.place.toml:
        return ours.server
    return json.dumps(_with(ours, {}), indent=2, ensure_ascii=False)
