"""The gate at hooks: one line at a start, when something waits for the user or was withheld."""

from mkg.bundle import Runner
from mkg.features.gate import review
from mkg.features.learnings.inject import Section
from mkg_hooks.deps import Deps
from mkg_hooks.identity import identify
from mkg_hooks.payload import HookEvent, to_record


def sections(event: HookEvent, deps: Deps, most: int) -> list[Section]:
    """How much waits for review and was withheld in the last seven days; nothing for nothing."""
    if deps.run is None or event.name != "SessionStart" or most < 1:
        return []
    who = identify(to_record(event), deps)
    size = review.queue_size(
        deps.run,
        owner_keys=review.owners(who.project_id, who.user_id),
        project_id=who.project_id,
    )
    told: dict[str, object] = {}
    if size.waiting and "review" in deps.settings.modules:
        told["waiting_for_the_user"] = size.waiting
        told["decided_by"] = "the user, with `mkg review` in a terminal"
    if size.blocked:
        told["withheld_in_7_days"] = size.blocked
        told["shown_by"] = "project_gate_audit"
    return [Section("State of this memory", (told,))] if told else []


def warm(run: Runner) -> None:
    """Let the server plan the statement of a start."""
    review.queue_size(run, owner_keys=["project:warm-up"], project_id="warm-up")
