"""Which session makes a call, and which project it is about.

A client says which tool use a call belongs to (or, in another client, which session); the hook that
ran before the call has recorded that tool use. Where neither is known, nothing is guessed.
"""

import re
from dataclasses import dataclass

from mkg.bundle import Runner, cypher
from mkg.errors import Refused
from mkg.features import timeline
from mkg.features.tool import Call

_PROJECT_ID = re.compile(r"[\w.@+~:%,=-][\w.@+~:%,=/ -]{0,399}")


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The event that announced a call."""

    session_id: str
    event_id: str
    tool_input: str | None


@cypher("learnings.session_of_tool_use")
def session_of_tool_use(run: Runner, *, tool_use_id: str) -> list[ToolUse]: ...


@dataclass(frozen=True, slots=True)
class Calling:
    """The session that calls, and the event of the call where one is known."""

    session_id: str
    event: ToolUse | None


QUERIES = ("learnings.session_of_tool_use", "timeline.scope")


def calling(call: Call, *, patient: bool = False) -> Calling | None:
    """The session behind a call; a patient caller first lets the worker store what it holds."""
    found = _calling(call)
    if found is None and patient and (call.tool_use_id or call.session_id):
        call.settle()
        found = _calling(call)
    return found


def project_of(call: Call, given: str, session: Calling | None) -> str | None:
    """The project asked for, else the calling session's, else that of the client's folder.

    Raises:
        Refused: the id given cannot be one.
    """
    given = given.strip()
    if given:
        if not _PROJECT_ID.fullmatch(given):
            raise Refused(
                "project_id is not a project's id; leave it out for the current project, or use "
                "the id that project_get_context returns",
                code="invalid",
            )
        return given
    if session is not None:
        bound = timeline.scope(call.run, session_id=session.session_id)
        if bound is not None and bound.project_id is not None:
            return bound.project_id
    here = call.here()
    return here.id if here else None


def some_project(call: Call, given: str, session: Calling | None) -> str:
    """The project of a call that cannot do without one.

    Raises:
        Refused: there is none.
    """
    found = project_of(call, given, session)
    if found is None:
        raise Refused(
            "there is no project here: the client works in a folder that is none",
            code="no_project",
            hint="pass project_id, or start the client inside the project's folder",
        )
    return found


def _calling(call: Call) -> Calling | None:
    if call.tool_use_id:
        open_calls = session_of_tool_use(call.run, tool_use_id=call.tool_use_id)
        if len(open_calls) == 1:
            return Calling(open_calls[0].session_id, open_calls[0])
    if call.session_id and timeline.scope(call.run, session_id=call.session_id) is not None:
        return Calling(call.session_id, None)
    return None
