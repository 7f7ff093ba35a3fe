"""`mkg review`: a person decides what waits, one key an item; programs may only list it (D11)."""

import dataclasses
import json
import os
import sys
import termios
import tty
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mkg.cli import person
from mkg.cli.basics import visible
from mkg.errors import Refused

if TYPE_CHECKING:
    from mkg.features.gate.review import Action, By, Decided, Queued, Store

LIMIT = 200
_QUOTE = 400
_REASONS = {
    "ambiguous_contradiction": "it contradicts something that is already known",
    "unconfirmed_supersession": "it replaced an older value without anybody confirming that",
    "user_scoped_candidate": "it is about you, and without your yes only what you typed counts",
    "waiting_candidate": "its origin does not allow it to count without a person",
    "source_rejected": "what it rests on was rejected",
    "verdict": "you said something about it when it was told",
    "proposal": "an agent proposes to change it",
}
_ORIGINS = {
    "user_typed": "typed by you",
    "user_pasted": "pasted by you",
    "assistant_clean": "said by the agent",
    "assistant_local": "said by the agent after reading this checkout",
    "assistant_tainted": "said by the agent after reading outside text",
    "tool": "a tool's record",
    "import": "imported",
    "mcp_write": "written by an agent",
}
_CHOICES: "dict[str, Action]" = {
    "a": "approve",
    "r": "reject",
    "n": "keep_new",
    "o": "keep_existing",
    "b": "keep_both",
}
_PLAIN = "[a]pprove  [r]eject  [e]dit  [s]kip  [u]ndo  [q]uit"
_CONFLICT = "[n]ew  [o]ld  [b]oth  [e]dit  [s]kip  [u]ndo  [q]uit"
Json = Annotated[bool, typer.Option("--json", help="Print the queue as JSON; decides nothing.")]


def review(
    id: Annotated[str, typer.Option("--id", help="One learning only, by full or short id.")] = "",
    approve: Annotated[bool, typer.Option("--approve", help="With --id: approve it.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="With --id: reject it.")] = False,
    keep: Annotated[
        str, typer.Option("--keep", help="With --id: which side of its conflict: new, old, both.")
    ] = "",
    undo: Annotated[
        bool, typer.Option("--undo", help="With --id: take its last decision back.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --id: do not ask again.")] = False,
    as_json: Json = False,
) -> None:
    """Decide what waits for you: one key each; every decision can be taken back."""
    from mkg import migrate
    from mkg.db import connect
    from mkg.features.gate import review as gate
    from mkg.features.timeline import person as user
    from mkg.features.timeline import project
    from mkg.settings import client_folder, load_settings

    if not as_json:
        person.demand("mkg review")
    action = _chosen(id, approve, reject, keep, undo)
    settings = load_settings()
    here = project.resolve(settings, str(client_folder() or ""))
    who = user.resolve(settings).id
    with connect(settings, caller="review") as run:
        migrate.check_schema(run)
        if action is not None:
            _one(run, id, action, gate.By(who), yes=yes)
            return
        owners = gate.owners(here.id if here else None, who)
        items = gate.queue(run, owner_keys=owners, id=id.strip() or None, limit=LIMIT)
        if as_json:
            typer.echo(json.dumps([dataclasses.asdict(i) for i in items], default=str, indent=2))
            return
        if not items:
            typer.echo("nothing waits for you" + (f" under the id {id[:80]!r}" if id else ""))
            return
        keys = Keys()
        Walk(run, gate.By(who), typer.echo, keys.one, _line, keys.ready).through(items)


def _chosen(id: str, approve: bool, reject: bool, keep: str, undo: bool) -> str | None:
    sides = {"": None, "new": "keep_new", "old": "keep_existing", "both": "keep_both"}
    if keep not in sides:
        raise Refused("--keep takes new, old or both", code="invalid")
    asked = [name for name, on in (("approve", approve), ("reject", reject), ("undo", undo)) if on]
    asked += [side for side in [sides[keep]] if side]
    if len(asked) > 1 or (asked and not id.strip()):
        raise Refused("name one learning with --id, and one decision on it", code="invalid")
    return asked[0] if asked else None


def _one(run: "Store", id: str, action: str, by: "By", *, yes: bool) -> None:
    from mkg.features.gate import review as gate

    seen = gate.one(run, id)
    typer.echo(f"{seen.short_id}  {visible(seen.text)}\n  {seen.status}")
    if not yes and not typer.confirm(f"{action.replace('_', ' ')}?"):
        raise Refused("nothing was changed")
    if action == "undo":
        last = gate.last_decision(run, id=seen.id)
        if last is None:
            raise Refused("no decision of a person about it can be taken back")
        restored = gate.take_back(run, last.id, at=_now())
        typer.echo("\n".join(f"{row.status}: {row.id}" for row in restored))
        return
    names = {name: name for name in gate.ACTIONS}
    found = gate.decide(run, seen, names[action], by, at=_now())  # pyright: ignore[reportArgumentType]
    if isinstance(found, gate.Changed):
        raise Refused("somebody decided on it just now; look at it again")
    typer.echo(_said(found))


@dataclass
class Walk:
    """One sitting: goes through the queue and remembers what it decided, for undo."""

    run: "Store"
    by: "By"
    tell: Callable[[str], object]
    key: Callable[[], str]
    line: Callable[[str, str], str]
    ready: Callable[[], None] = lambda: None
    """Called before something is shown on which a key will decide."""
    decided: "list[tuple[Queued, str]]" = dataclasses.field(default_factory=lambda: [])

    def through(self, items: "list[Queued]") -> None:
        """Ask about each item until the end or `q`."""
        waiting = list(items)
        position, total = 0, len(items)
        typed = [i for i in items if i.origin == "user_typed" and not i.conflicts]
        while waiting:
            item = waiting[0]
            self.ready()
            self.tell(f"\n{position + 1} of {total}\n{shown(item)}")
            more = f"  [A]ll {len(typed)} typed by you" if len(typed) > 1 and item in typed else ""
            self.tell((_CONFLICT if item.conflicts else _PLAIN) + more)
            key = self.key()
            if key in ("q", "\x03", "\x04", ""):
                break
            if key == "u":
                back = self._undo()
                if back is not None:
                    waiting.insert(0, back)
                    position -= 1
                continue
            if key == "A" and more:
                for one in self._all([one for one in typed if one in waiting]):
                    waiting.remove(one)
                    typed.remove(one)
                    position += 1
                continue
            if key == "s" or self._decide(item, key):
                waiting.pop(0)
                position += 1
        # What was skipped waits as before.
        self.tell(f"\n{len(self.decided)} decided, {total - len(self.decided)} left")

    def _decide(self, item: "Queued", key: str) -> bool:
        from mkg.features.gate import review as gate

        text = None
        action = _CHOICES.get(key)
        if key == "e":
            action, text = "edit_approve", self.line("the right wording: ", item.text).strip()
            text = " ".join(text.split())
            if not text or text == item.text:
                self.tell("nothing was changed")
                return False
        if action is None or ((key in "nob") != bool(item.conflicts) and key != "e"):
            self.tell("that key has no meaning here")
            return False
        try:
            found = gate.decide(self.run, item, action, self.by, at=_now(), text=text)
        except Refused as error:
            self.tell(str(error))
            return False
        if isinstance(found, gate.Changed):
            self.tell("somebody decided on it just now; it is left alone")
            return True
        self.decided.append((item, found.decision))
        self.tell(_said(found))
        return True

    def _all(self, typed: "list[Queued]") -> "list[Queued]":
        """Approve what the user typed, after one look at the whole list."""
        for item in typed:
            self.tell(f"  {item.short_id}  {visible(item.text)}")
        self.ready()
        self.tell(f"approve these {len(typed)}? [y]es, any other key: no")
        if self.key() != "y":
            return []
        return [item for item in typed if self._decide(item, "a")]

    def _undo(self) -> "Queued | None":
        from mkg.features.gate import review as gate

        if not self.decided:
            self.tell("nothing was decided yet")
            return None
        item, decision = self.decided.pop()
        try:
            gate.take_back(self.run, decision, at=_now())
        except Refused as error:
            self.tell(str(error))
            return None
        again = gate.queue(self.run, owner_keys=[_owner(self.run, item)], id=item.id, limit=1)
        self.tell("taken back")
        return again[0] if again else None


def shown(item: "Queued") -> str:
    """One item as a person reads it: nothing in it can move the cursor or hide."""
    lines = [
        f"  {item.short_id}  {visible(item.text)}",
        f"    {_ORIGINS.get(item.origin, item.origin)}, {_age(item.created_at)} ago, {item.scope} "
        f"scope, supported by {item.support_count} session(s)",
        *_quotes(item.evidence),
        f"    you are asked because {_REASONS.get(item.reason, item.reason)}"
        + (f" ({visible(item.detail)})" if item.detail else ""),
    ]
    for other in item.conflicts:
        word = "replaced" if other["relation"] == "SUPERSEDES" else "against"
        lines.append(f"  {word}  {other['short_id']}  {visible(str(other['text']))}")
        at = datetime.fromisoformat(str(other["at"]))
        origin = str(other["origin"])
        lines.append(
            f"    {other['status']}, {_ORIGINS.get(origin, origin)}, {_age(at)} ago"
            + (f"; {visible(str(other['judge_reason']))}" if other["judge_reason"] else "")
        )
        if other["quote"]:
            lines.append(f"      “{visible(str(other['quote']))[:_QUOTE]}”")
    for proposal in item.proposals:
        words = f": {visible(str(proposal['text']))}" if proposal["text"] else ""
        lines.append(f"    an agent proposes {proposal['action'].replace('_', ' ')}{words}")
    return "\n".join(lines)


def _quotes(evidence: list[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for e in evidence:
        lines.append(f"    said in {visible(str(e['client']))} ({e['event']}) at {e['at']}:")
        lines.append(f"      “{visible(str(e['quote']))[:_QUOTE]}”")
    return lines or ["    no recorded event says it"]


def _said(found: "Decided") -> str:
    line = f"{found.learning.status}; mkg why {found.learning.id.rpartition(':')[2]}"
    for other in found.others:
        line += f"\n  the other one is {other.status} now"
    return line


def _owner(run: "Store", item: "Queued") -> str:
    from mkg.features.gate import review as gate

    return gate.one(run, item.id).owner_key


def _age(at: datetime) -> str:
    from mkg.features.timeline.episode import age

    return age(int((datetime.now(UTC) - at).total_seconds()))


def _now() -> str:
    return datetime.now(UTC).isoformat()


class Keys:
    """The terminal's keys, one at a time and without Enter."""

    def __init__(self) -> None:
        self._fd = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._fd)

    def ready(self) -> None:
        """Drop what was typed before the next item is shown: it meant something else."""
        tty.setcbreak(self._fd, termios.TCSAFLUSH)

    def one(self) -> str:
        """The next key; the terminal is then as it was."""
        try:
            return os.read(self._fd, 1).decode("ascii", "replace")
        except KeyboardInterrupt:
            return "q"
        finally:
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)


def _line(prompt: str, given: str) -> str:
    """A line of text that begins with what stands there now."""
    import readline

    # What is edited must be what is seen: escapes are not turned back into hidden characters.
    readline.set_startup_hook(lambda: readline.insert_text(visible(given)))
    try:
        return input(prompt)
    except (KeyboardInterrupt, EOFError):
        return ""
    finally:
        readline.set_startup_hook(None)
