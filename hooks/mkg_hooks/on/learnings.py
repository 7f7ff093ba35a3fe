"""Learnings at hooks: facts at a start, what bears on a prompt, learning at a stop."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar, cast

from mkg import lexical
from mkg.bundle import Runner
from mkg.db import Neo4jRunner
from mkg.features import learnings
from mkg.features.gate import rules
from mkg.features.gate.rules import Rules
from mkg.features.gate.sweep import sweep
from mkg.features.learnings import inject, receipts, retrieval
from mkg.features.learnings.extract import prompt_origin
from mkg.features.learnings.freshness import Checker, withheld
from mkg.features.learnings.inject import Section
from mkg.features.learnings.windows import learn
from mkg.features.learnings.write import Owner
from mkg.features.timeline import typed
from mkg_hooks.deps import Deps
from mkg_hooks.identity import identify
from mkg_hooks.payload import HookEvent, to_record

MOST_PARTS, MOST_LINKED = 2_000, 20
_CHECKER = Checker()
LEFT_OVER, AT_ONCE = timedelta(days=7), 20
Row = TypeVar("Row", learnings.Hit, learnings.Known)


def sections(event: HookEvent, deps: Deps, most: int) -> list[Section]:
    """Up to `most` learnings: about the user at a start, for the prompt otherwise."""
    if deps.run is None or event.session_id is None:
        return []
    most = min(most, deps.settings.recall_limit)
    who = identify(to_record(event), deps)
    state = deps.memory.of(event.session_id)
    fresh = event.name == "SessionStart" or state.unwanted is None
    if who.project_id is not None and fresh:
        found_here = learnings.unwanted(deps.run, project_id=who.project_id)
        state.unwanted = frozenset(row.id for row in found_here)
    unwanted = state.unwanted or frozenset[str]()
    # An epoch that the graph has not heard of yet must not be judged by what it knows of the old.
    asking = None if state.new_epoch else event.session_id
    if event.name == "SessionStart":
        facts = retrieval.user_facts(
            deps.run,
            user_id=who.user_id,
            session_id=None if state.retell else asking,
            excluded=sorted(unwanted if state.retell else unwanted | state.told),
            limit=most,
        )
        items = [inject.item(wanted(fact, unwanted)) for fact in facts]
        return [_section("About the user", items, facts)]
    if who.project_id is None or not event.prompt:
        return []
    query = retrieval.prepare(event.prompt, deps.embed)
    found = retrieval.at_prompt(
        deps.run,
        query,
        project_id=who.project_id,
        session_id=asking,
        excluded=sorted(unwanted | state.told),
        limit=most,
    )
    heading = "For this prompt"
    if found.degraded:
        heading += f" (searched by words only: {found.degraded})"
    told = _fresh([wanted(hit, unwanted) for hit in found.hits], event.cwd)
    if back := len(found.hits) - len(told):
        heading += f" ({back} more held back: what it names is gone from this checkout)"
    items = [{**inject.item(h), **({"checked": m} if m else {})} for h, m in told]
    return [_section(heading, items, tuple(h for h, _ in told))]


def wanted(row: Row, unwanted: frozenset[str]) -> Row:
    """The row without later words that are not wanted here."""
    if row.said_later and row.said_later["id"] in unwanted:
        return replace(row, said_later=None)
    return row


def _fresh(hits: Sequence[learnings.Hit], folder: str | None) -> list[tuple[learnings.Hit, str]]:
    """The hits that are not held back, with their marks.

    What would not be told by itself is not told beside another line either.
    """
    texts = [hit.text for hit in hits]
    later = [str((hit.said_later or {}).get("text") or "") for hit in hits]
    marks = _CHECKER.marks([*texts, *later], folder)
    told = zip(hits, marks[: len(hits)], marks[len(hits) :], strict=True)
    return [
        (replace(hit, said_later=None) if withheld(beside) else hit, mark)
        for hit, mark, beside in told
        if not withheld(mark)
    ]


def after(record: dict[str, Any], deps: Deps, run: Neo4jRunner) -> None:
    """At a stop: read what is new in the session and learn from it."""
    if record.get("agent_id"):
        return
    state = deps.memory.of(str(record["session_id"]))
    dropped = receipts.look(
        run,
        session_id=str(record["session_id"]),
        event_key=str(record["event_key"]),
        path=record.get("transcript_path"),
        start=state.start_block,
    )
    # Once: a client that drops the start may drop the next prompt's too.
    state.start_block, state.retell = None, dropped
    who = identify(record, deps)
    owner, session = Owner(who.project_id, who.user_id), str(record["session_id"])
    client = str(record.get("client") or "") or None
    if _asked(deps, client):
        # A model takes its time: the spool goes on meanwhile.
        deps.later(f"window:{session}", partial(read, deps, session, owner, client))
    else:
        _read(run, deps, session, owner, rules.chosen(deps.settings), client)


def read(deps: Deps, session: str, owner: Owner, client: str | None) -> None:
    """Learn from a session with the model; without a graph its window waits for another time."""
    if deps.run is None:
        return
    _read(
        deps.run,
        deps,
        session,
        owner,
        replace(rules.chosen(deps.settings), model=deps.model),
        client,
    )


def _read(
    run: Neo4jRunner, deps: Deps, session: str, owner: Owner, rules: Rules, client: str | None
) -> None:
    """Learn from a session, then judge a few that wait."""
    learn(run, deps.embed, session_id=session, owner=owner, rules=rules, client=client)
    owners = [key for key in (owner.key("project"), owner.key("user")) if key is not None]
    sweep(run, deps.embed, learnings.embed, owner_keys=owners, rules=rules)


def left_over(deps: Deps) -> None:
    """Read what a worker that died or a model that failed has left, of sessions of these days."""
    if deps.run is None or not _asked(deps, None):
        return
    since = deps.clock() - LEFT_OVER
    for one in learnings.unread(deps.run, since=since, limit=AT_ONCE):
        owner = Owner(one.project_id, one.user_id)
        again = partial(read, deps, one.session_id, owner, one.client)
        deps.later(f"window:{one.session_id}", again)


def _asked(deps: Deps, client: str | None) -> bool:
    """Whether there is a model that would be asked."""
    return deps.model is not None and deps.model.available("extract", client=client) is None


def added(record: Mapping[str, Any]) -> list[str]:
    """The learnings that a finished call of `project_add_learning` named in its answer."""
    if record["name"] != "PostToolUse" or record.get("is_interrupt") or record.get("tool_error"):
        return []
    if not str(record.get("tool_name") or "").endswith("project_add_learning"):
        return []
    return _learning_ids(record.get("tool_output"))


def link(record: Mapping[str, Any], ids: list[str], run: Runner) -> None:
    """Join them to the session of the call, where the server could not tell which it was."""
    learnings.link_session(
        run, session_id=str(record["session_id"]), ids=ids, at=str(record["received_at"])
    )


def _learning_ids(answer: object) -> list[str]:
    """Every `id` of a learning in an answer of any shape: texts of JSON, lists, objects."""
    found: list[str] = []
    waiting: list[object] = [answer]
    for _ in range(MOST_PARTS):
        if not waiting:
            break
        one = waiting.pop()
        if isinstance(one, str) and one.lstrip()[:1] in ("{", "["):
            with contextlib.suppress(ValueError, RecursionError):
                waiting.append(json.loads(one))
        elif isinstance(one, list):
            waiting.extend(cast("list[object]", one))
        elif isinstance(one, dict):
            parts = cast("dict[str, object]", one)
            id = parts.get("id")
            if isinstance(id, str) and id.startswith("learning:"):
                found.append(id)
            waiting.extend(parts.values())
    return list(dict.fromkeys(found))[:MOST_LINKED]


def origin(record: Mapping[str, Any], run: Runner) -> str | None:
    """The origin of an event's own words, bound when it is stored (D10)."""
    if record["name"] == "UserPromptSubmit":
        prompt, session = str(record.get("prompt") or ""), str(record["session_id"])
        if (
            record.get("agent_id")
            or typed.by_harness(prompt)
            or typed.by_agent(run, prompt, session)
        ):
            return "assistant_tainted"
        return prompt_origin(prompt, record.get("prompt_source"))
    if record["name"] in {"PostToolUse", "PostToolUseFailure"}:
        return "tool"
    return None


def warm(run: Runner, vector: list[float] | None, model: str) -> None:
    """Let the server plan the statements of a prompt."""
    nobody = "project:warm-up"
    learnings.unwanted(run, project_id=nobody)
    learnings.recall(
        run,
        owner_key=nobody,
        terms=lexical.lucene(["warm-up"], lexical.owner_token(nobody)),
        vector=vector,
        embedding_model=model,
        session_id="warm-up",
        excluded=[],
        pool=retrieval.POOL,
        limit=5,
    )
    learnings.recent(
        run,
        owner_key=nobody,
        statuses=["approved"],
        injectable_only=True,
        session_id="warm-up",
        excluded=[],
        limit=1,
    )


def _section(
    heading: str,
    items: list[dict[str, object]],
    rows: list[learnings.Known] | tuple[learnings.Hit, ...],
) -> Section:
    return Section(heading, tuple(items), tuple(row.id for row in rows))
