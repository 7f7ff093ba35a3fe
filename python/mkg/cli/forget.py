"""`mkg forget`: plan, show, confirm, act, prove, and a receipt without content."""

import fcntl
import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mkg.errors import Refused

if TYPE_CHECKING:
    from mkg.db import Neo4jRunner
    from mkg.embed import Embedder
    from mkg.features import forget as feature
    from mkg.features.forget.select import Kind, Selector, Targets
    from mkg.features.forget.verify import Proof
    from mkg.settings import Settings

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DRAIN_SECONDS = 60.0
_OUT_OF_REACH = (
    "out of reach: what the client itself keeps of its sessions, and what a model provider was sent"
)


def forget(
    id: Annotated[str, typer.Argument(help="A learning's id, full or short.")] = "",
    session: Annotated[str, typer.Option("--session", help="A session and its subagents.")] = "",
    project: Annotated[str, typer.Option("--project", help="A project's id.")] = "",
    user: Annotated[str, typer.Option("--user", help="A user's id.")] = "",
    text: Annotated[str, typer.Option("--text", help="Whatever holds this text.")] = "",
    taint: Annotated[str, typer.Option("--taint", help="An event and all it led to.")] = "",
    yes: Annotated[
        bool, typer.Option("--yes", help="Act; without it only counts are shown.")
    ] = False,
    keep_words: Annotated[
        bool,
        typer.Option("--keep-words", help="Leave a learning's words in the events it came from."),
    ] = False,
    and_refuse: Annotated[
        bool, typer.Option("--and-refuse", help="Never learn these values again; hashes are kept.")
    ] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Look whether it is gone.")] = False,
    receipt: Annotated[
        str, typer.Option("--receipt", help="With --verify: a receipt's file.")
    ] = "",
    resume: Annotated[bool, typer.Option("--resume", help="Finish what was interrupted.")] = False,
    as_json: Json = False,
) -> None:
    """Take back what was kept: counts first, nothing is changed without --yes."""
    from mkg import db, migrate
    from mkg.features.forget.verify import prove, prove_by_receipt, read_receipt
    from mkg.settings import load_settings

    named: dict[Kind, str] = {
        "learning": id,
        "session": session,
        "project": project,
        "user": user,
        "text": text,
        "taint": taint,
    }
    selector = _selector(named, needed=not (resume or (verify and receipt)))
    settings = load_settings()
    with db.connect(settings, caller="forget") as run:
        migrate.check_schema(run)
        if verify:
            found = (
                prove_by_receipt(run, settings, read_receipt(Path(receipt)))
                if selector is None
                else prove(run, settings, selector)
            )
            _print_proof(found, as_json)
            if not found.gone:
                raise typer.Exit(1)
            return
        with _alone(settings):
            finished = _finish(run, settings, as_json) if resume or yes else []
            if selector is not None:
                _one(run, settings, selector, yes, keep_words, and_refuse, as_json, finished)


def _selector(named: "dict[Kind, str]", *, needed: bool) -> "Selector | None":
    from mkg.features.forget.select import Selector

    given: list[tuple[Kind, str]] = [(kind, value) for kind, value in named.items() if value]
    if len(given) > 1 or (needed and not given):
        raise Refused(
            "name one thing: a learning's id, --session, --project, --user, --text or --taint"
        )
    return Selector(given[0][0], given[0][1]) if given else None


@contextmanager
def _alone(settings: "Settings") -> Generator[None]:
    """One forgetting at a time on this machine; the lock goes with the process."""
    from mkg.private import private_dir

    private_dir(settings.home)
    with (settings.home / "forget.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused("another mkg forget is at work; wait for its end") from None
        yield


def _finish(run: "Neo4jRunner", settings: "Settings", as_json: bool) -> "list[feature.State]":
    """Carry out what a killed command had marked, each with its receipt."""
    from mkg.features.forget import act, verify

    finished: list[feature.State] = []
    for left in act.unfinished(run):
        done = act.resume(run, _embedder(settings), left)
        if done is None:
            continue
        finished.append(done)
        at = done.created_at.isoformat()
        proof = verify.prove_by_receipt(run, settings, {"checks": done.checks, "at": at})
        verify.write_receipt(settings.home, done, proof, at)
        if not as_json:
            typer.echo(f"finished an interrupted one: {_counted(done)}")
    return finished


def _one(
    run: "Neo4jRunner",
    settings: "Settings",
    selector: "Selector",
    yes: bool,
    keep_words: bool,
    and_refuse: bool,
    as_json: bool,
    finished: "list[feature.State]",
) -> None:
    from mkg.features.forget import act, places, verify
    from mkg.features.forget.select import planned, select
    from mkg.worker import client

    if yes:
        # What was recorded before this moment is in the graph first, or it would come behind.
        _drain(settings)
    until = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    targets = select(run, selector)
    is_meant = places.meant(selector, targets, until)
    spool = settings.paths.spool_dir
    plan, waits = asdict(planned(run, targets)), places.waiting(spool, is_meant)
    if not yes:
        _print_plan(plan, waits, as_json)
        return
    # The same wish, which a kill had cut off: what is left of it are files and its receipt.
    same = [one for one in finished if _is(one, selector)]
    same += verify.unproved(run, settings.home, selector)
    if not targets and not waits and not same:
        raise Refused("nothing of that is kept; mkg forget --verify looks in every place")
    words = [] if keep_words else sorted({w for ws in targets.words.values() for w in ws})
    refuse = "all" if and_refuse else "none" if selector.kind == "project" else "person"
    done: feature.State | None = same[-1] if same else None
    if targets or waits or done is None:
        wish = act.begin(run, selector, targets, refuse=refuse, keep_words=keep_words)
        done = act.resume(run, _embedder(settings), wish, progress=_progress(as_json))
    act.leave(run, selector)
    assert done is not None
    cleaned = places.clean_spool(spool, is_meant, words)
    cleaned += places.clean_aside(spool, _needles(selector, targets))
    client.ask(settings.paths.socket, "forget")
    # A learning's words may be somebody else's too: it is proved gone by its id.
    proof = verify.prove(run, settings, selector)
    if keep_words:
        proof.selected = {k: n for k, n in proof.selected.items() if k == "learnings"}
    path = verify.write_receipt(settings.home, done, proof, until)
    _print_done(done, cleaned, proof, path, as_json)


def _is(done: "feature.State", selector: "Selector") -> bool:
    from mkg.features.forget.select import check

    return done.kind == selector.kind and check(selector.value) in done.checks


def _drain(settings: "Settings") -> None:
    from mkg.worker import client
    from mkg_hooks.spool import Spool

    if Spool(settings.paths.spool_dir).oldest() is None or not client.start(settings.paths.socket):
        return
    asked = {"timeout": DRAIN_SECONDS}
    client.ask(settings.paths.socket, "drain", asked, timeout=DRAIN_SECONDS + 5.0)


def _needles(selector: "Selector", targets: "Targets") -> list[str]:
    from mkg.features.forget.select import forms

    found = forms(selector.value) if selector.kind == "text" else []
    found += [part.session_id for part in targets.sessions]
    return found + [word for words in targets.words.values() for word in words]


def _embedder(settings: "Settings") -> "Embedder | None":
    from mkg import embed
    from mkg.errors import ModelError

    try:
        return embed.load(settings)
    except ModelError:
        return None


def _progress(quiet: bool) -> Any:
    steps = 0

    def tell(step: str) -> None:
        nonlocal steps
        steps += 1
        if not quiet and sys.stderr.isatty():
            typer.echo(f"\r  batch {steps}: {step}      ", err=True, nl=False)

    return tell


def _print_plan(plan: dict[str, int], waits: int, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"plan": {**plan, "waiting_in_spool": waits}, "changed": False}))
        return
    told = {"weakened": "learnings that keep another source", "processing": "runs of the extractor"}
    for kind, number in {**plan, "records that wait in the spool": waits}.items():
        if number:
            typer.echo(f"  {number:>8}  {told.get(kind, kind)}")
    if not any(plan.values()) and not waits:
        typer.echo("nothing of that is kept")
        return
    typer.echo("nothing was changed; --yes takes it back for good")


def _counted(done: "feature.State") -> str:
    from mkg.features.forget.verify import counts

    return ", ".join(f"{n} {kind}" for kind, n in counts(done).items() if n) or "nothing"


def _print_done(
    done: "feature.State", cleaned: int, proof: "Proof", path: Path, as_json: bool
) -> None:
    from mkg.features.forget.verify import counts

    if as_json:
        shown = {"done": counts(done), "records_in_files": cleaned, "receipt": str(path)}
        typer.echo(json.dumps({**shown, **_proof(proof)}))
        return
    typer.echo(f"forgotten: {_counted(done)}")
    if cleaned:
        typer.echo(f"taken out of files: {cleaned} record(s)")
    _print_proof(proof, False)
    typer.echo(f"receipt, without content: {path}")


def _proof(proof: "Proof") -> dict[str, Any]:
    return {"gone": proof.gone, **asdict(proof)}


def _print_proof(proof: "Proof", as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(_proof(proof)))
        return
    for place, hits in {**proof.graph, **proof.selected}.items():
        typer.echo(f"  still there: {hits} in {place}")
    if proof.indexes:
        typer.echo(f"  still there: {proof.indexes} found by words")
    copies = proof.copies
    for number, what in (
        (copies.spool, "spool segment(s)"),
        (copies.quarantine, "put-aside file(s)"),
    ):
        if number:
            typer.echo(f"  still there: {number} {what}")
    for path in copies.logs:
        typer.echo(f"  still in a log: {path} (delete it; the next line begins a new one)")
    typer.echo("nothing reads it any more" if proof.gone else "it is not gone")
    for path in copies.backups:
        typer.echo(f"  a backup may hold it: {path} (make a new one and delete this)")
    for path in copies.torn:
        typer.echo(f"  a kept copy of a torn log may hold it: {path} (delete it)")
    if copies.store:
        typer.echo(
            f"  old bytes in {len(copies.store)} file(s) of the store: the server writes over them"
            " as it works; its log keeps the last 8 MB"
        )
    typer.echo(f"  {_OUT_OF_REACH}")
