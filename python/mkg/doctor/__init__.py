"""Every link between an agent client and the graph, looked at one after the other.

A link tells its state, what was seen, and the command that repairs it. Looking changes nothing and
takes a bounded time; no text, no name of a node and no secret is told.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from mkg.errors import ConfigError, MkgError
from mkg.settings import Settings, load_settings
from mkg_hooks.redact import redact

State = Literal["ok", "warning", "broken", "unknown"]
SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Link:
    """One link of the chain."""

    link: str
    state: State
    says: str
    repair: str = ""


Look = Callable[[Settings], Link]


def examine(seconds: float = SECONDS) -> list[Link]:
    """Look at every link; one that takes longer than `seconds` is told as unknown."""
    from mkg.doctor import client_side, store_side

    looks: list[tuple[str, Look]] = [*client_side.LOOKS, *store_side.LOOKS]
    try:
        settings = load_settings(origin="client")
    except ConfigError as error:
        first = Link("settings", "broken", str(error), repair_of(str(error)))
        # Where the state lies is among the settings: nothing else can be judged before that.
        rest = [Link(name, "unknown", "the settings come first", first.repair) for name, _ in looks]
        return [_clean(first), *rest]
    found = [Link("settings", "ok", f"{settings.paths.config_file}")]
    found += [bounded(name, look, settings, seconds) for name, look in looks]
    return [_clean(link) for link in found]


def repair_of(message: str) -> str:
    """The command that a message of ours tells, or the wizard."""
    _, found, command = message.partition("run: ")
    return command if found else "mkg setup"


def bounded(name: str, look: Look, settings: Settings, seconds: float) -> Link:
    """One link, or that it took too long or could not be looked at."""
    found: list[Link] = []

    def work() -> None:
        try:
            found.append(look(settings))
        except (MkgError, OSError, ValueError, KeyError) as error:
            told = str(error) if isinstance(error, MkgError) else type(error).__name__
            found.append(Link(name, "unknown", f"could not be looked at: {told}", "mkg doctor"))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if not found:
        return Link(name, "unknown", f"no answer within {seconds:g} s", "mkg doctor")
    return found[0]


def exit_code(links: list[Link]) -> int:
    """0 all is well, 1 warnings only, 6 something is broken or could not be looked at."""
    states = {link.state for link in links}
    if states & {"broken", "unknown"}:
        return 6
    return 1 if "warning" in states else 0


def _clean(link: Link) -> Link:
    return replace(link, says=redact(link.says)[0])
