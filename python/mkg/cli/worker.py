"""`mkg worker`: the resident process that records events and answers hooks."""

import json
import os
from functools import partial
from typing import Annotated, Any

import typer

app = typer.Typer(help="The resident worker of the memory.", no_args_is_help=True)
FromClient = Annotated[bool, typer.Option("--from-client", help="Started by an agent client.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _settings(from_client: bool = False) -> Any:
    from mkg.settings import load_settings

    return load_settings(origin="client" if from_client else "shell")


def store_password(settings: Any) -> str:
    """Return the password of the effective store, for the redactor."""
    from mkg import localdb

    if settings.store.password is not None:
        return settings.store.password.get_secret_value()
    managed = localdb.endpoint(settings) if settings.store.uri is None else None
    return managed.password if managed is not None else ""


def _connect(settings: Any) -> Any:
    """A runner on a store that is migrated far enough; the records wait for any other."""
    from mkg import db, migrate
    from mkg.errors import MkgError

    made = db.connect(settings, caller="worker", retry_seconds=1.0)
    try:
        migrate.check_schema(made)
    except MkgError:
        made.close()
        raise
    return made


@app.command()
def run(from_client: FromClient = False) -> None:
    """Be the worker in this process; ends quietly when there already is one.

    When other code lies on the disk, the process finishes what it holds and becomes that code.
    """
    from mkg import embed, log
    from mkg.errors import GraphUnavailable
    from mkg.llm import asking
    from mkg.worker import lifecycle
    from mkg.worker.code import Watch
    from mkg.worker.jobs import Jobs
    from mkg.worker.shape import Limits, Makers, Places
    from mkg_hooks import dispatch
    from mkg_hooks.deps import Deps
    from mkg_hooks.spool import Spool

    settings = _settings(from_client)
    paths, most = settings.paths, settings.spool_mb * 2**20
    log.to_file(paths.log_dir, level=settings.log_level)
    places = Places(paths.socket, paths.worker_lock, paths.spool_dir, paths.hmac_key)
    secrets: dict[str, str] = {}

    graph: dict[str, Any] = {}

    def connect() -> Any:
        made = graph["run"] = _connect(settings)
        # The store's own password is no variable of a hook's, but it may stand in a text.
        secrets["NEO4J_PASSWORD"] = store_password(settings)
        return made

    def metered() -> Any:
        if "run" not in graph:
            raise GraphUnavailable("the graph is out of reach; run: mkg db up")
        return graph["run"]

    logger = log.get("mkg.worker")
    model, jobs = asking.load(settings, metered), Jobs(logger)
    spool = Spool(paths.spool_dir, cap_bytes=most)
    makers = Makers(
        connect=connect,
        embedder=lambda: embed.load(settings),
        deps=partial(Deps, settings=settings, spool=spool.append, model=model, later=jobs.submit),
        secrets=lambda: secrets,
    )
    limits = Limits(idle=float(settings.worker_idle_s), spool_bytes=most)
    watch = Watch(paths.pointer, limits, logger)
    try:
        ended = lifecycle.run(
            places, makers, dispatch, log=logger, limits=limits, watch=watch, jobs=jobs
        )
        model.close()
        if ended == "replaced" and watch.successor:
            words = ["-P", "-m", "mkg", "worker", "run", *(["--from-client"] * from_client)]
            os.execv(watch.successor, [watch.successor, *words])
    except BaseException as error:
        # Nobody reads the stderr of a detached process: the log is the only witness.
        logger.error("worker.died", reason=type(error).__name__)
        raise


@app.command()
def start(as_json: AsJson = False) -> None:
    """Start the worker in the background and wait until it answers."""
    from mkg.worker import client

    paths = _settings().paths
    if not client.start(paths.socket):
        typer.echo(
            f"the worker did not answer within 20 s; see {paths.log_dir / 'mkg.log'}", err=True
        )
        raise typer.Exit(3)
    answer = client.ask(paths.socket, "ping") or {}
    typer.echo(json.dumps(answer) if as_json else f"worker running (pid {answer.get('pid')})")


@app.command()
def status(as_json: AsJson = False) -> None:
    """Show what the worker does, what waits, and what is paused."""
    from mkg.cli import capture
    from mkg.worker import client
    from mkg_hooks.spool import Spool

    settings = _settings()
    paths = settings.paths
    found = client.ask(paths.socket, "status")
    answer: dict[str, object]
    if found is None:
        spool = Spool(paths.spool_dir, cap_bytes=settings.spool_mb * 2**20)
        answer = {
            "running": False,
            "queue": spool.pending(),
            "quarantined": spool.quarantined(),
            "spool": spool.counters(),
            "spool_bytes": list(spool.room()),
        }
    else:
        answer = {"running": True, **found}
    answer["paused"] = capture.paused_state(paths.home)
    if as_json:
        typer.echo(json.dumps(answer))
        return
    answer["paused"] = capture.shown(answer["paused"])
    for name, value in answer.items():
        typer.echo(f"{name:20} {value}")


@app.command()
def stop() -> None:
    """Stop the worker after the batch at hand."""
    from mkg.worker import client

    paths = _settings().paths
    if not client.stop(paths.socket):
        late = f"the worker still runs after {client.START_SECONDS:g} s"
        typer.echo(f"{late}; `mkg worker status` names its pid", err=True)
        raise typer.Exit(1)
    typer.echo("worker stopped")


@app.command()
def drain(
    timeout: Annotated[float, typer.Option(help="Seconds to wait.")] = 30.0,
    as_json: AsJson = False,
) -> None:
    """Wait until every recorded event is in the graph; starts a worker when there is none."""
    from mkg.worker import client

    paths = _settings().paths
    if not client.start(paths.socket):
        typer.echo(
            f"the worker did not answer within 20 s; see {paths.log_dir / 'mkg.log'}", err=True
        )
        raise typer.Exit(3)
    answer = client.ask(paths.socket, "drain", {"timeout": timeout}, timeout=timeout + 5.0) or {
        "drained": False,
        "last_error": "the worker went away; run the command again",
    }
    if as_json:
        typer.echo(json.dumps(answer))
    elif answer["drained"]:
        typer.echo("drained: every recorded event is in the graph")
    if not answer["drained"]:
        left = answer.get("queue", "?")
        typer.echo(
            f"not drained after {timeout:g} s: {left} waiting; {answer.get('last_error')}", err=True
        )
        raise typer.Exit(3)
