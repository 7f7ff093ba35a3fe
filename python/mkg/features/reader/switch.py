"""Whether raw queries may be asked here at all (D21, SEC-41).

Community has no roles and a raw query has no scope: what it may read, it may read of everybody. So
it is for one person's own store, and for another store only when that person says so.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mkg.features.tool import Tool

Choice = Literal["auto", "on", "off"]
READ_CYPHER = "neo4j_read_cypher"
_NAMES = frozenset({READ_CYPHER, "read_cypher"})


@dataclass(frozen=True, slots=True)
class Exposure:
    """Who can reach a server: for whom it runs, what a call may see, whether others connect."""

    several_users: bool = False
    scope: Literal["user", "project"] = "user"
    listens_for_others: bool = False


def why_off(choice: Choice, exposure: Exposure, *, managed: bool) -> str:
    """Why raw queries are refused here, with what to do; empty when they may be asked."""
    if exposure.several_users:
        return "raw queries are off: this server runs for more than one user; use the other tools"
    if exposure.scope == "project":
        return "raw queries are off: they cannot be kept within one project; use the other tools"
    if choice == "off":
        return "raw queries are off: the user's file says MKG_READ_CYPHER=off"
    if choice == "on":
        return ""
    if exposure.listens_for_others:
        return "raw queries are off: this server listens for others; MKG_READ_CYPHER=on allows them"
    if not managed:
        return (
            "raw queries are off: the store is not the managed local one; MKG_READ_CYPHER=on in "
            "the user's file allows them"
        )
    return ""


def offered(tools: Iterable[Tool], exposure: Exposure, choice: Choice) -> tuple[Tool, ...]:
    """The tools that a face shows: one that listens for others hides what it would refuse.

    A local face always shows the tool, so that its list is the same with every store.
    """
    hidden = exposure.listens_for_others and why_off(choice, exposure, managed=True) != ""
    return tuple(tool for tool in tools if not (hidden and tool.name in _NAMES))
