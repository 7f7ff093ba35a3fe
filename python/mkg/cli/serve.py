"""`mkg serve`: be an MCP server for an agent client."""

import logging
import os
import sys
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    from mkg.settings import Origin

FACES = ("memory",)
TRANSPORTS = ("stdio", "http")


def serve(
    face: Annotated[str, typer.Option("--face", help="Which tools to serve: memory.")] = "memory",
    transport: Annotated[
        str, typer.Option("--transport", help="How to speak: stdio or http.")
    ] = "stdio",
    over_http: Annotated[
        bool, typer.Option("--http", help="Listen on 127.0.0.1; the same as --transport http.")
    ] = False,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="Port of --http; 0: a free one.")
    ] = None,
    from_client: Annotated[
        bool, typer.Option("--from-client", help="Started by an agent client.")
    ] = False,
) -> None:
    """Serve the memory's tools over MCP: to one client over its pipes, or to many over HTTP."""
    from mkg.errors import ConfigError

    if face not in FACES:
        raise ConfigError(f"there is no face {face!r}; known are {', '.join(FACES)}")
    if transport not in TRANSPORTS:
        raise ConfigError(
            f"transport {transport!r} is not served; known are {', '.join(TRANSPORTS)}"
        )
    if over_http or transport == "http":
        _listen(port, from_client)
    if port is not None:
        raise ConfigError("--port goes with --http")
    _pipes(from_client)


def _announce(how: str, origin: "Origin") -> None:
    """Say on stderr what is served and by which settings, or what is wrong with them."""
    from mkg import __version__
    from mkg.errors import ConfigError
    from mkg.settings import load_settings
    from mkg_hooks.redact import redact

    try:
        settings = load_settings(origin=origin)
    except ConfigError as error:
        # The server starts all the same: a client learns it from a tool's answer.
        told = f"the settings cannot be used: {error}"
    else:
        store = settings.store.uri or f"managed, {settings.paths.store_dir}"
        told = (
            f"store {store}; embeddings {settings.embedding_model}; raw queries"
            f" {settings.read_cypher}; settings {settings.paths.config_file}"
        )
    typer.echo(redact(f"mkg {__version__} serves memory over {how}: {told}")[0], err=True)


def _pipes(from_client: bool) -> NoReturn:
    from mkg.server import stdio

    pipes = stdio.claim()
    _announce("stdio", "client" if from_client else "shell")

    import anyio

    from mkg.server.connection import Connection
    from mkg.server.memory import MemoryServer

    server = MemoryServer(Connection("client" if from_client else "shell"))
    anyio.run(server.serve, pipes)
    _leave()


def _listen(port: int | None, from_client: bool) -> NoReturn:
    from mkg import log
    from mkg.features.reader.switch import Exposure, offered
    from mkg.server import http
    from mkg.server.connection import Connection
    from mkg.server.memory import TOOLS, MemoryServer
    from mkg.settings import load_settings

    origin = "client" if from_client else "shell"
    settings = load_settings(origin=origin)
    log.to_file(settings.paths.log_dir, level=settings.log_level)
    # The port first: of two that start at once only one makes a token.
    listener = http.listen(http.PORT if port is None else port)
    path = settings.home / http.TOKEN_FILE
    secret = http.token(path)
    _announce("http", origin)
    exposure = Exposure(listens_for_others=True)
    server = MemoryServer(
        Connection(origin, exposure=exposure),
        offered(TOOLS, exposure, settings.read_cypher),
    )
    http.serve(server, listener, secret, ready=lambda at: http.say(at, path))
    _leave()


def _leave() -> NoReturn:
    # The client is gone: nobody waits for the modules to be taken down one by one, nor for a tool.
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)
