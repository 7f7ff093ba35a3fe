"""Which project and user a session belongs to: fixed at its first event, kept by the graph."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mkg.features import timeline
from mkg.features.timeline import person, project
from mkg_hooks.deps import Deps, Identity


def identify(record: Mapping[str, Any], deps: Deps) -> Identity:
    """The identity of a record's session: known, else from the graph, else from its first event."""
    session_id = str(record["session_id"])
    state = deps.memory.of(session_id)
    if state.identity is None:
        state.identity = _from_graph(session_id, deps) or _from_event(record, deps)
    return state.identity


def _from_graph(session_id: str, deps: Deps) -> Identity | None:
    known = timeline.scope(deps.run, session_id=session_id) if deps.run else None
    if known is None or known.user_id is None:
        return None
    name = known.project_id.rsplit("/", 1)[-1] if known.project_id else None
    return Identity(known.project_id, name, known.user_id, "session")


def _from_event(record: Mapping[str, Any], deps: Deps) -> Identity:
    found = project.resolve(deps.settings, _cwd(record))
    who = person.resolve(deps.settings)
    return Identity(found.id if found else None, found.name if found else None, who.id, who.source)


def _cwd(record: Mapping[str, Any]) -> str | None:
    cwd = record.get("cwd")
    return cwd if isinstance(cwd, str) and Path(cwd).is_absolute() else None
