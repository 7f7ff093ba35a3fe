"""Routes an event to its features, lays their answers into one block, and applies what was spooled.

Foreground: `answer`, one block within one budget. Background: `apply`, in the order of the spool;
everything it does is idempotent, because after a crash the same records come again.
"""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from mkg import log
from mkg.bundle.files import root
from mkg.db import Neo4jRunner
from mkg.errors import BundleError, GraphUnavailable
from mkg.features import embedding, learnings, timeline
from mkg.features.forget import keeping
from mkg.features.learnings import inject, receipts
from mkg.features.learnings.inject import Section
from mkg_hooks.deps import Deps
from mkg_hooks.identity import identify
from mkg_hooks.on import gate as on_gate
from mkg_hooks.on import learnings as on_learnings
from mkg_hooks.on import timeline as on_timeline
from mkg_hooks.payload import HookEvent, HookResult

_log = log.get(__name__)
EPOCH_SOURCES = frozenset({"clear", "compact"})
WARM_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Route:
    """One event's part of `hooks/routes.toml`."""

    budget_ms: int
    foreground: tuple[str, ...]
    background: tuple[str, ...]
    items: dict[str, int]
    text: inject.Budget


Foreground = Callable[[HookEvent, Deps, int], list[Section]]
Background = Callable[[dict[str, Any], Deps, Neo4jRunner], None]
FOREGROUND: dict[str, Foreground] = {
    "learnings": on_learnings.sections,
    "timeline": on_timeline.sections,
    "gate": on_gate.sections,
}
MEND_PAGE = 16
MENDING: dict[str, embedding.Mending] = {
    "timeline": (timeline.unembedded, timeline.embed),
    "learnings": (learnings.unembedded, learnings.embed),
}
BACKGROUND: dict[str, Background] = {
    "learnings": on_learnings.after,
    "timeline": on_timeline.after,
}


@cache
def routes() -> dict[str, Route]:
    """All routes.

    Raises:
        BundleError: `routes.toml` names a feature that has no handler, or lacks a budget.
    """
    data = tomllib.loads((root("hooks") / "routes.toml").read_text(encoding="utf-8"))
    made: dict[str, Route] = {}
    for event, values in data.items():
        route = Route(
            int(values["budget_ms"]),
            tuple(values["foreground"]),
            tuple(values["background"]),
            dict(values.get("items", {})),
            inject.Budget(int(values.get("characters", 0)), int(values.get("tokens", 0))),
        )
        unknown = (set(route.foreground) - set(FOREGROUND)) | (
            set(route.background) - set(BACKGROUND)
        )
        if unknown:
            raise BundleError(f"hooks/routes.toml: {event} names unknown features {unknown}")
        silent = [slug for slug in route.foreground if route.items.get(slug, 0) < 1]
        if route.foreground and (silent or min(route.text.characters, route.text.tokens) < 1):
            raise BundleError(
                f"hooks/routes.toml: {event} answers at once, so it needs characters, tokens and"
                " items for each feature of its foreground"
            )
        made[event] = route
    return made


def answer(event: HookEvent, deps: Deps) -> HookResult:
    """What a client is told at once; empty for events that only are recorded.

    Raises:
        GraphUnavailable: the graph is out of reach, so the caller announces the degraded state.
    """
    route = routes().get(event.name)
    if route is None or not route.foreground or not event.session_id or not deps.settings.inject:
        return HookResult()
    if event.agent_id:
        # A subagent's prompt is the agent's own text, not the user's.
        return HookResult()
    state = deps.memory.of(event.session_id)
    if event.name == "SessionStart" and event.source in EPOCH_SOURCES:
        state.told.clear()
        state.new_epoch = True
    if deps.run is None:
        raise GraphUnavailable("the graph is out of reach; run: mkg db up")
    sections = _sections(event, deps, route)
    if state.retell and event.name == "UserPromptSubmit":
        start = routes()["SessionStart"]
        sections = _sections(replace(event, name="SessionStart"), deps, start) + sections
    block = inject.render(sections, route.text)
    if not block.text:
        return HookResult()
    _log.info("found", event_name=event.name, items=len(block.ids), left_out=block.left_out)
    return HookResult(context=block.text, ids=block.ids)


def _sections(event: HookEvent, deps: Deps, route: Route) -> list[Section]:
    return [
        section
        for slug in route.foreground
        for section in FOREGROUND[slug](event, deps, route.items[slug])
    ]


def delivered(event: HookEvent, result: HookResult, deps: Deps) -> None:
    """Remember what was handed over: a late answer that nobody took stays untold."""
    if not event.session_id or not result.context:
        return
    state = deps.memory.of(event.session_id)
    if event.name == "SessionStart":
        state.start_block, state.retell = receipts.block_sha(result.context), False
    elif event.name == "UserPromptSubmit":
        state.retell = False
    if result.ids:
        state.told.update(result.ids)
        deps.spool(_delivery(event, result))


def apply(records: Sequence[dict[str, Any]], deps: Deps) -> None:
    """Bring spooled records into the graph, then do the background work they ask for.

    Raises:
        GraphUnavailable: nothing was lost; the caller keeps the records and tries again.
        ValueError: a record is of a kind that only a newer version knows.
    """
    run = deps.run
    if run is None:
        raise GraphUnavailable("the graph is out of reach; run: mkg db up")
    rows: list[dict[str, Any]] = []
    for record in records:
        if record.get("kind") == "delivery":
            rows = _flush(run, rows)
            _deliver(run, record)
            continue
        if record.get("kind") != "event":
            raise ValueError(f"a record of a newer version: v {record.get('v')}")
        if not record.get("session_id"):
            continue
        if record["name"] == "UserPromptSubmit":
            # Who wrote a prompt may stand in an event just before it.
            rows = _flush(run, rows)
        rows.append(_row(record, deps, run))
        if added := on_learnings.added(record):
            rows = _flush(run, rows)
            on_learnings.link(record, added, run)
        route = routes().get(str(record["name"]))
        if route is not None and (route.background or record["name"] == "SessionStart"):
            rows = _flush(run, rows)
            for slug in route.background:
                BACKGROUND[slug](record, deps, run)
            if record["name"] == "SessionStart":
                deps.memory.of(str(record["session_id"])).new_epoch = False
    _flush(run, rows)


def counts(session_id: str, deps: Deps) -> dict[str, int]:
    """How much a session was told and has taught; empty for one that nobody knows."""
    found = receipts.session_counts(deps.run, session_id=session_id) if deps.run else None
    return {"told": found.told, "learned": found.learned} if found else {}


def warm(deps: Deps, *, once: bool = False) -> None:
    """Run each hot statement several times: first plans after a start take seconds (NEO-137).

    Args:
        once: the server is warm already and only its plans are old.
    """
    run = deps.run
    if run is None:
        return
    vector = deps.embed.embed(["warm-up"])[0] if deps.embed else None
    for _ in range(1 if once else WARM_ROUNDS):
        on_learnings.warm(run, vector, deps.embed.model if deps.embed else "")
        on_timeline.warm(run)
        on_gate.warm(run)


def mend(deps: Deps, marks: dict[str, str]) -> bool:
    """Embed a few rows that have no vector of the model in use; False when there are none left.

    Args:
        marks: how far each feature has come in this pass; kept by the caller between calls.
    """
    if deps.run is not None and "left over" not in marks:
        marks["left over"] = "looked for"
        on_learnings.left_over(deps)
    if deps.run is None:
        return False
    left = keeping.step(deps.run, deps.settings.retain)
    if deps.embed is None:
        return left
    for slug, by in MENDING.items():
        after = embedding.page(deps.run, deps.embed, by, after=marks.get(slug, ""), limit=MEND_PAGE)
        if after is not None:
            marks[slug], left = after, True
    return left


def _row(record: dict[str, Any], deps: Deps, run: Neo4jRunner) -> dict[str, Any]:
    who = identify(record, deps)
    return timeline.event_row(
        record,
        project_id=who.project_id,
        project_name=who.project_name,
        user_id=who.user_id,
        user_source=who.user_source,
        origin=on_learnings.origin(record, run),
    )


def _flush(run: Neo4jRunner, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if rows:
        timeline.append(run, events=rows)
    return []


def _delivery(event: HookEvent, result: HookResult) -> dict[str, Any]:
    return {
        "v": 1,
        "kind": "delivery",
        "session_id": event.session_id,
        "event_key": event.event_key,
        "hook_event": event.name,
        "ids": list(result.ids),
        "block_sha": receipts.block_sha(result.context),
        "at": event.received_at,
    }


def _deliver(run: Neo4jRunner, record: dict[str, Any]) -> None:
    learnings.deliver(
        run,
        session_id=str(record["session_id"]),
        event_key=str(record["event_key"]),
        hook_event=str(record["hook_event"]),
        ids=[str(i) for i in record["ids"]],
        block_sha=str(record["block_sha"]),
        at=str(record["at"]),
    )
