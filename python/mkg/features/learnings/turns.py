"""Events as turns: what was said and done, each with the origin of its words."""

from collections.abc import Sequence

from mkg.features import learnings
from mkg.features.learnings.extract import Turn
from mkg.features.learnings.extract import assistant_origin as origin_of_assistant
from mkg.features.learnings.extract_origin import worst


def turns(events: Sequence[learnings.WindowEvent]) -> list[Turn]:
    """Dialogue and tool calls of a window, each with the origin of its words."""
    return placed(events)[0]


def placed(events: Sequence[learnings.WindowEvent]) -> tuple[list[Turn], list[int]]:
    """The turns, and which event of the window each of them is.

    A successful call appears with its input only, as a possible fix of a failed one. What a tool
    told stays with the session: the agent may repeat it after any number of prompts.
    """
    made: list[Turn] = []
    places: list[int] = []
    calls: list[tuple[str, str]] = []
    before = [events[0].heard] if events and events[0].heard else []
    seen_prompt = False
    for no, e in enumerate(events):
        turn: Turn | None = None
        if e.event_name == "UserPromptSubmit" and e.prompt:
            seen_prompt = True
            turn = Turn(e.event_id, e.seq, "user", e.prompt, e.origin or "user_pasted")
        elif e.event_name == "Stop" and e.message:
            # Without the prompt in sight nobody knows what tools stood between: assume the worst.
            told = worst([origin_of_assistant(calls), *before])
            origin = told if seen_prompt else "assistant_tainted"
            turn = Turn(e.event_id, e.seq, "assistant", e.message, origin)
        elif e.event_name in {"PostToolUse", "PostToolUseFailure"} and e.tool_name:
            calls.append((e.tool_name, e.tool_input or ""))
            turn = Turn(
                e.event_id,
                e.seq,
                "tool_failure" if e.failed else "tool_success",
                (e.error or "") if e.failed else "",
                "tool",
                e.tool_name,
                e.tool_input,
                e.tool_use_id,
            )
        if turn is not None:
            made.append(turn)
            places.append(no)
    return made, places


def heard(events: Sequence[learnings.WindowEvent]) -> str | None:
    """The worst that the tools among these events told; None where there was none."""
    calls = [
        (e.tool_name, e.tool_input or "")
        for e in events
        if e.event_name in {"PostToolUse", "PostToolUseFailure"} and e.tool_name
    ]
    return origin_of_assistant(calls) if calls else None
