"""`mkg serve`: be an MCP server for an agent client."""

import logging
import os
from typing import Annotated

import typer

FACES = ("memory",)
TRANSPORTS = ("stdio",)


def serve(
    face: Annotated[str, typer.Option("--face", help="Which tools to serve: memory.")] = "memory",
    transport: Annotated[str, typer.Option("--transport", help="How to speak: stdio.")] = "stdio",
    from_client: Annotated[
        bool, typer.Option("--from-client", help="Started by an agent client.")
    ] = False,
) -> None:
    """Serve the memory's tools over MCP until the client closes the connection."""
    from mkg.errors import ConfigError
    from mkg.server import stdio

    if face not in FACES:
        raise ConfigError(f"there is no face {face!r}; known are {', '.join(FACES)}")
    if transport not in TRANSPORTS:
        raise ConfigError(
            f"transport {transport!r} is not served; known are {', '.join(TRANSPORTS)}"
        )
    pipes = stdio.claim()

    import anyio

    from mkg.server.connection import Connection
    from mkg.server.memory import MemoryServer

    server = MemoryServer(Connection("client" if from_client else "shell"))
    anyio.run(server.serve, pipes)
    # The client is gone: nobody waits for the modules to be taken down one by one.
    logging.shutdown()
    os._exit(0)
