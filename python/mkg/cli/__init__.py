"""The `mkg` command: one place that turns errors into a line and an exit code."""

import sys
import uuid

import typer

from mkg import __version__, log
from mkg.cli import (
    basics,
    bench,
    capture,
    contract,
    cost,
    db,
    demo,
    doctor,
    forget,
    importing,
    install,
    migrate,
    query,
    read_gate,
    recall,
    receipts,
    redact,
    retention,
    review,
    scan,
    screen,
    serve,
    setup,
    statusline,
    worker,
)
from mkg.errors import MkgError

app = typer.Typer(
    name="mkg",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A memory for coding agents whose logic lives in a Neo4j graph.",
)
app.add_typer(db.app, name="db")
app.add_typer(migrate.app, name="migrate")
app.add_typer(worker.app, name="worker")
app.add_typer(bench.app, name="bench")
app.add_typer(importing.app, name="import")
app.command("doctor")(doctor.doctor)
app.command("setup")(setup.setup)
app.command("install")(install.install)
app.command("uninstall")(install.uninstall)
app.command("serve")(serve.serve)
app.command("demo")(demo.demo)
app.command("log")(receipts.log)
app.command("recall")(recall.recall)
app.command("review")(review.review)
app.command("verdict")(receipts.verdict)
app.command("statusline")(statusline.statusline)
app.command("why")(basics.why)
app.command("run")(query.run)
app.command("explain")(query.explain)
app.command("check")(contract.check)
app.command("catalog")(contract.catalog)
app.command("lock")(contract.lock)
app.command("cost")(cost.cost)
app.command("config")(basics.config)
app.command("trust")(basics.trust)
app.command("pause")(capture.pause)
app.command("resume")(capture.resume)
app.command("redact")(redact.redact)
app.command("scan-secrets")(scan.scan_secrets)
app.command("forget")(forget.forget)
app.command("retention")(retention.retention)
app.command("read-gate")(read_gate.read_gate)
app.command("screen")(screen.screen)


# The doctor must see what is there before anything is put right; and whoever works on a checkout
# does not mean that their own hooks shall run from it.
LEAVES_NO_TRACE = frozenset({"doctor", "check", "lock", "catalog", "explain"})


def _version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _start(
    ctx: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    if ctx.invoked_subcommand not in LEAVES_NO_TRACE:
        basics.begin()


def main() -> None:
    """Run a command; what goes wrong is one line on stderr and the exit code of its kind."""
    try:
        app()
    except MkgError as error:
        typer.echo(f"mkg: {error}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("mkg: stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)
    except Exception as error:
        mark = uuid.uuid4().hex[:8]
        log.get(__name__).error("crash", mark=mark, kind=type(error).__name__)
        typer.echo(f"mkg: internal error {type(error).__name__} ({mark}); see the log", err=True)
        sys.exit(1)
