"""Which submitted prompts a person typed: a client marks the others late or not at all.

Seen with Claude Code 2.1.332: a prompt that an agent scheduled, and the notice of a finished
background task, arrive as ordinary prompts without a `source`.
"""

import json
from typing import cast

from mkg.bundle import Runner
from mkg.features import timeline
from mkg.json_shape import as_object

SCHEDULERS = ("ScheduleWakeup", "CronCreate")
HARNESS_TAGS = ("<task-notification", "<subagent_notification", "<system-reminder")
_LOOK_BACK = 200
_SHORTEST = 8


def by_harness(prompt: str) -> bool:
    """Whether the client itself wrote the prompt."""
    return prompt.lstrip().startswith(HARNESS_TAGS)


def by_agent(run: Runner, prompt: str, session_id: str) -> bool:
    """Whether an agent scheduled this prompt: in this session, or to outlive its own.

    Elsewhere a person may well type what an agent once scheduled.
    """
    wanted = _words(prompt)
    if len(wanted) < _SHORTEST:
        return False
    for row in timeline.scheduled(run, tools=list(SCHEDULERS), limit=_LOOK_BACK):
        scheduled, durable = _call(row.tool_input)
        if row.session_id != session_id and not durable:
            continue
        text = _words(scheduled)
        # Long inputs are kept cut, so the beginning has to do.
        if len(text) >= _SHORTEST and (text in wanted or wanted in text):
            return True
    return False


def _call(tool_input: str) -> tuple[str, bool]:
    """The scheduled prompt, and whether it may fire in a later session."""
    try:
        value = json.loads(tool_input)
    except (ValueError, RecursionError):
        # Cut short in the middle: whether it is durable is not known, so it may be.
        return tool_input, True
    if not isinstance(value, dict):
        return tool_input, True
    call = as_object(cast("object", value))
    found = call.get("prompt")
    return (found if isinstance(found, str) else tool_input), call.get("durable") is True


def _words(text: str) -> str:
    return " ".join(text.split()).casefold()
