"""Asks the server what it makes of a statement of a file, without running it (NEO-82)."""

from typing import TYPE_CHECKING

from mkg.bundle import load_bundle
from mkg.errors import GraphError, GraphRejected, MigrationError

if TYPE_CHECKING:
    from mkg.db import Explained, Neo4jRunner


def worded(text: str) -> str:
    """A statement as it is sent: the bundle's language first, as for every query."""
    return f"{load_bundle().language}\n{text}"


def explained(run: "Neo4jRunner", text: str, where: str) -> "Explained":
    """The server's plan of a statement.

    Raises:
        MigrationError: the server refuses it; the message starts with `where`.
    """
    try:
        return run.explain(worded(text))
    except GraphRejected as error:
        raise MigrationError(f"{where}: {reason(error)}") from error


def reason(error: GraphError) -> str:
    """What the server said, for the person who wrote or runs the migration."""
    message = getattr(error.__cause__, "message", None) or str(error)
    return " ".join(str(message).split())[:400]
