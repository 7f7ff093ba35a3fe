"""Which submitted prompts a person typed: a client marks the others late or not at all.

Seen with Claude Code 2.1.332: a prompt that an agent scheduled, and the notice of a finished
background task, arrive as ordinary prompts without a `source`.
"""

import json

from mkg.bundle import Runner
from mkg.features import timeline

SCHEDULERS = ("ScheduleWakeup", "CronCreate")
HARNESS_TAGS = ("<task-notification", "<subagent_notification", "<system-reminder")
_LOOK_BACK = 200
_SHORTEST = 8


def by_harness(prompt: str) -> bool:
    """Whether the client itself wrote the prompt."""
    return prompt.lstrip().startswith(HARNESS_TAGS)


def by_agent(run: Runner, prompt: str) -> bool:
    """Whether an agent scheduled this prompt, in this session or an earlier one."""
    wanted = _words(prompt)
    if len(wanted) < _SHORTEST:
        return False
    for row in timeline.scheduled(run, tools=list(SCHEDULERS), limit=_LOOK_BACK):
        text = _words(_prompt_of(row.tool_input))
        # Long inputs are kept cut, so the beginning has to do.
        if len(text) >= _SHORTEST and (text in wanted or wanted in text):
            return True
    return False


def _prompt_of(tool_input: str) -> str:
    try:
        value = json.loads(tool_input)
    except (ValueError, RecursionError):
        return tool_input
    found = value.get("prompt") if isinstance(value, dict) else None
    return found if isinstance(found, str) else tool_input


def _words(text: str) -> str:
    return " ".join(text.split()).casefold()
