"""What a person says of a told line: wrong, outdated, not here; it acts at once."""

from dataclasses import dataclass

from mkg.bundle import Runner, cypher

KINDS = ("wrong", "outdated", "not-here")
MEANING = {
    "wrong": "it is withdrawn and waits in `mkg review`",
    "outdated": "it is closed and waits in `mkg review`",
    "not-here": "it is not told here: for good if it is about you, else for two weeks",
}
NOTE = 300


@dataclass(frozen=True, slots=True)
class Given:
    id: str
    status: str
    injectable: bool
    acted: bool


@cypher("gate.verdict")
def verdict(
    run: Runner,
    *,
    id: str,
    kind: str,
    project_id: str | None,
    session_id: str | None,
    user_id: str,
    note: str | None,
    at: str,
) -> Given | None: ...
