"""`mkg scan-secrets`: what is stored already, read again with the rules of today."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from mkg.errors import Refused

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DRAIN_SECONDS = 30.0


def scan_secrets(
    yes: Annotated[bool, typer.Option("--yes", help="Mask what is found; do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Look for secrets in what is stored, and mask them in place; counts first, never values."""
    from mkg import db, embed
    from mkg.cli.worker import store_password
    from mkg.errors import ModelError
    from mkg.features.ops import Report, sweep
    from mkg.settings import load_settings, subprocess_env
    from mkg_hooks.redact import known_values

    settings = load_settings()
    known = known_values({**subprocess_env(), "NEO4J_PASSWORD": store_password(settings)})
    tell = _progress(quiet=as_json)
    with db.connect(settings, caller="scan-secrets") as run:
        if not yes:
            report = Report()
            sweep(run, None, known, write=False, report=report, progress=tell)
            left = _files(settings.paths.spool_dir, known, report, write=False)
            if as_json or not any(report.found.values()):
                _print(report, left, as_json)
                return
            _print(report, left, False)
            if not sys.stdin.isatty():
                typer.echo("nothing was changed; run: mkg scan-secrets --yes")
                return
            if not typer.confirm("Mask these in place?"):
                raise Refused("nothing was changed")
        # What waits in the spool reaches the graph first, or it would come behind the sweep.
        _drain(settings.paths.socket)
        try:
            embedder = embed.load(settings)
        except ModelError:
            embedder = None
        report = Report()
        sweep(run, embedder, known, write=True, report=report, progress=tell)
        left = _files(settings.paths.spool_dir, known, report, write=True)
    _print(report, left, as_json)


def _drain(socket: Path) -> None:
    from mkg.worker import client

    if client.ask(socket, "ping"):
        asked = {"timeout": DRAIN_SECONDS}
        client.ask(socket, "drain", asked, timeout=DRAIN_SECONDS + 5.0)


def _files(spool: Path, known: list[str], report: Any, *, write: bool) -> int:
    """Sweep the spool's files; returns how many records wait there unmasked.

    With `write`, segments that hold such a record are written anew, and so is what was put aside.
    """
    from mkg_hooks import spool_mask
    from mkg_hooks.spool import Spool
    from mkg_hooks.spool_records import write_whole

    left = 0
    log = Spool(spool)
    for record in log.waiting():
        report.scanned["spool"] += 1
        changed = spool_mask.masked(record, _cleaner(report, known)) != record
        report.touched["spool"] += changed
        left += changed
    if write:
        # Counted above; this reads what was applied and is still in a segment as well.
        spool_mask.mask(log, _cleaner(type(report)(), known))
        left = 0
    for path, content in _aside(spool / "quarantine"):
        report.scanned["quarantine"] += 1
        masked = report.masked("quarantine", content, known)
        if masked == content:
            continue
        report.touched["quarantine"] += 1
        if write:
            text = masked if isinstance(masked, str) else json.dumps(masked)
            write_whole(str(path), text.encode("utf-8", "surrogateescape"))
    return left


def _cleaner(report: Any, known: list[str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def clean(record: dict[str, Any]) -> dict[str, Any]:
        return report.masked("spool", record, known)

    return clean


def _aside(folder: Path) -> Iterator[tuple[Path, Any]]:
    """The files of records that were put aside: JSON where it is some, text where it is not."""
    for path in sorted(folder.glob("[0-9]*.*")) if folder.is_dir() else ():
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        try:
            yield path, json.loads(text)
        except ValueError:
            yield path, text


def _progress(*, quiet: bool) -> Callable[[Any], None]:
    def tell(report: Any) -> None:
        if not quiet and sys.stderr.isatty():
            typer.echo(f"\r  {sum(report.scanned.values())} rows read", err=True, nl=False)

    return tell


def _print(report: Any, left: int, as_json: bool) -> None:
    found = {kind: dict(sorted(rules.items())) for kind, rules in report.found.items() if rules}
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "scanned": dict(report.scanned),
                    "touched": {k: n for k, n in report.touched.items() if n},
                    "found": found,
                    "redacted": report.written,
                    "waiting_in_spool": left,
                }
            )
        )
        return
    read = ", ".join(f"{n} {kind}" for kind, n in report.scanned.items()) or "nothing is stored"
    typer.echo(f"read: {read}")
    for kind, rules in found.items():
        for rule, number in rules.items():
            typer.echo(f"  {kind:<12}{rule:<28}{number}")
    if not found:
        typer.echo("no secret was found")
    elif report.written:
        typer.echo("masked in place; the sweep is on record")
    if left:
        typer.echo(f"{left} of these wait in the spool")
