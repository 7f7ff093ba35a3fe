"""The faces of the memory that speak MCP; its package is loaded only when one is served."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkg.server.memory import TOOLS

__all__ = ["TOOLS"]


def __getattr__(name: str) -> Any:
    if name != "TOOLS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mkg.server.memory import TOOLS

    return TOOLS
