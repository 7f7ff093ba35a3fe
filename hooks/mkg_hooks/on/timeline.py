"""The timeline at hooks: headlines of recent sessions at a start, the episode at a stop."""

from typing import Any

from mkg.bundle import Runner
from mkg.db import Neo4jRunner
from mkg.features import timeline
from mkg.features.learnings import inject
from mkg.features.learnings.inject import Section
from mkg.features.timeline import episode
from mkg_hooks.deps import Deps
from mkg_hooks.identity import identify
from mkg_hooks.payload import HookEvent, to_record

POOL = 60
HEADLINE = 160


def sections(event: HookEvent, deps: Deps, most: int) -> list[Section]:
    """Headlines of up to `most` screened episodes of the project, and how many more there are."""
    if deps.run is None or event.name != "SessionStart":
        return []
    who = identify(to_record(event), deps)
    if who.project_id is None:
        return []
    shown = timeline.headlines(
        deps.run,
        project_id=who.project_id,
        without_session=event.session_id,
        pool=POOL,
        limit=most,
    )
    if not shown:
        return []
    total = timeline.count_episodes(deps.run, project_id=who.project_id).total
    now = deps.clock()
    items: list[dict[str, object]] = [
        {
            "episode": inject.cut(row.title, HEADLINE),
            "type": row.type,
            "when": f"{episode.age(int((now - row.ended_at).total_seconds()))} ago",
        }
        for row in shown
    ]
    older = max(0, total - len(shown))
    heading = "Recent sessions of this project"
    if older:
        heading += f" ({older} older: episode_search, episode_fetch)"
    return [Section(heading, tuple(items))]


def after(record: dict[str, Any], deps: Deps, run: Neo4jRunner) -> None:
    """Write the session's episode from what the graph holds of it."""
    if not record.get("agent_id"):
        episode.record(run, deps.embed, session_id=str(record["session_id"]))


def warm(run: Runner) -> None:
    """Let the server plan the statements of a start and of the capture."""
    timeline.scope(run, session_id="warm-up")
    timeline.headlines(run, project_id="warm-up", without_session=None, pool=1, limit=1)
    timeline.count_episodes(run, project_id="warm-up")
    timeline.append(run, events=[])
    timeline.scheduled(run, tools=["warm-up"], limit=1)
