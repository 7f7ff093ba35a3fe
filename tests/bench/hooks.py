"""W10: what one event costs the user, with a warm worker on a real store and beside other ways."""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mkg import lexical
from mkg.db import Neo4jRunner
from mkg.embed import LocalMiniLM
from mkg.worker import client
from mkg_hooks.spool import Spool
from tests.bench import statements, stock, world
from tests.bench.measure import Estimate, interleaved, ratio, spread
from tests.bench.processes import Command, Fired, clock, fire
from tests.bench.report import Report, Row
from tests.conftest import Server, shared_cache
from tests.support.user_env import user_env

ROOT = Path(__file__).parents[2]
SEPARATE = Path(__file__).parent / "separate" / "hook.py"
PARTS = ("capture", "errors", "ingest", "learn")
REMOTE, PROJECT = "https://example.org/acme/shop.git", "example.org/acme/shop"
AT_ONCE = 8
PER_SESSION = 8
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything: `rounds` of single events, `bursts` of eight, `apart` against uv.

    `before` anything is timed as many prompts and events are answered: a server that was started
    for the bench compiles its code while it runs, on the cores that are measured.
    """

    learnings: int
    rounds: int
    bursts: int
    apart: int
    before: int
    warm: int = 5


FULL = Size(learnings=10_000, rounds=200, bursts=25, apart=50, before=400)
QUICK = Size(learnings=1_000, rounds=20, bursts=4, apart=3, before=5)


@dataclass
class Desk:
    """A user at work: a home, a project, a running worker, and events to fire."""

    home: Path
    project: Path
    env: dict[str, str]
    store: Server
    answered: int = 0
    asked: int = 0
    _number: int = 0
    _questions: list[str] = field(default_factory=lambda: world.questions(64))

    @property
    def python(self) -> str:
        """The interpreter that the registered line starts."""
        return os.path.realpath(sys.executable)

    @property
    def socket(self) -> Path:
        return next((self.home / "mkg" / "run").glob("*.sock"))

    @property
    def spool(self) -> Spool:
        return Spool(next(p for p in (self.home / "mkg" / "spool").iterdir() if p.is_dir()))

    def status(self) -> dict[str, Any]:
        return client.ask(self.socket, "status") or {}

    def bare(self) -> Command:
        return [self.python, "-I", "-S", "-c", "pass"], b""

    def hook(self, event: str) -> Command:
        launcher = str(ROOT / "hooks" / "launch.py")
        return [self.python, "-I", "-S", launcher, "claude", event], self.payload(event)

    def registered(self, event: str) -> Command:
        """The line as a client's file has it: a shell that starts a shell that becomes Python."""
        script = self.home / "mkg" / "hook"
        line = f"[ -f '{script}' ] && /bin/sh '{script}' claude {event} || true"
        return ["/bin/sh", "-c", line], self.payload(event)

    def separate(self, event: str) -> list[Command]:
        payload = self.payload(event)
        uv = [str(Path(sys.executable).with_name("uv")), "run", "--offline", "--quiet"]
        return [
            ([*uv, "--python", sys.executable, "--script", str(SEPARATE), part], payload)
            for part in PARTS
        ]

    def payload(self, event: str) -> bytes:
        self._number += 1
        body: dict[str, Any] = {
            "session_id": f"{event}-{self._number // PER_SESSION}",
            "cwd": str(self.project),
            "hook_event_name": event,
            "prompt_id": uuid.uuid4().hex,
            "permission_mode": "default",
        }
        if event == "PostToolUse":
            body |= {
                "tool_name": "Bash",
                "tool_input": {"command": "make test"},
                "tool_response": {"stdout": "ok " * 100, "stderr": "", "interrupted": False},
                "tool_use_id": f"toolu_{uuid.uuid4().hex[:20]}",
            }
        elif event == "UserPromptSubmit":
            # Never the same twice: a known text needs no embedding.
            asked = self._questions[self._number % len(self._questions)]
            body["prompt"] = f"{asked} This is about change {self._number}."
        else:
            body |= {"stop_hook_active": False, "last_assistant_message": "Done. " * 20}
        return json.dumps(body).encode()

    def run(self, commands: list[Command]) -> Fired:
        return fire(commands, self.env)

    def ask(self, count: int) -> Fired:
        """Prompts, counting those that were told something."""
        done = self.run([self.hook("UserPromptSubmit") for _ in range(count)])
        self.asked += count
        self.answered += sum(1 for said in done.out if said)
        return done

    def stored(self) -> None:
        """Wait until everything spooled is in the graph, without giving the worker work."""
        spool, until = self.spool, time.monotonic() + 60
        while spool.pending():
            if time.monotonic() > until:
                raise RuntimeError("the worker does not store what was spooled")
            time.sleep(0.005)


def measure(run: Neo4jRunner, store: Server, size: Size, say: Say) -> Report:
    """Everything about hooks, on one store."""
    say(f"{size.learnings} learnings")
    model = LocalMiniLM()
    stock.fill(run, model, size.learnings, owner="project:rest")
    owner = f"project:{PROJECT}"
    token = lexical.owner_token(owner)
    statements.run(
        run, "learnings_own", mode="auto", percent=100, owner_key=owner, owner_token=token
    )
    load = os.getloadavg()[0]
    with desk(store) as at:
        say(f"{size.before} prompts and events before anything is timed")
        for _ in range(size.before):
            at.ask(1)
            at.run([at.hook("PostToolUse")])
        at.stored()
        rows, notes = _walls(at, size, say)
        more, told = _processor(at, size, say)
        apart, side_by_side = _apart(at, size, say)
        resident = float(at.status()["resident_mib"])
        rows += [*more, *apart]
        rows.append(Row("worker with embedder, MiB resident", Estimate(*[resident] * 3)))
        notes += [*told, *side_by_side]
        notes.append(f"{at.answered} of {at.asked} prompts were told something")
        if at.answered < at.asked / 2:
            raise AssertionError(f"only {at.answered} of {at.asked} prompts were answered")
    notes.append(f"load average {load:.1f} before, {os.getloadavg()[0]:.1f} after")
    return Report("hooks", rows, size.rounds, notes)


def _walls(at: Desk, size: Size, say: Say) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    notes: list[str] = []
    for count, rounds in ((1, size.rounds), (AT_ONCE, size.bursts)):
        when = "alone" if count == 1 else f"{count} at once"
        say(f"wall time, {when}: {rounds} rounds")
        times = interleaved(_together(at, count), rounds=rounds, warm=size.warm)
        what = f"wall time against a bare interpreter, {when}"
        learnings = f"prompt with recall at {size.learnings:,} learnings"
        rows += [
            Row(f"event without an answer, {what}", ratio(times["event"], times["bare"]), 2.5),
            Row(f"{learnings}, {what}", ratio(times["prompt"], times["bare"]), 4.0),
            Row(f"event by its registered line, {what}", ratio(times["line"], times["bare"])),
        ]
        told = ", ".join(f"{name} {spread(row)}" for name, row in times.items())
        notes.append(f"ms, {when}, median / p95: {told}")
        at.stored()
    return rows, notes


def _together(at: Desk, count: int) -> dict[str, Callable[[int], object]]:
    return {
        "bare": lambda _: at.run([at.bare() for _ in range(count)]),
        "event": lambda _: at.run([at.hook("PostToolUse") for _ in range(count)]),
        "line": lambda _: at.run([at.registered("PostToolUse") for _ in range(count)]),
        "prompt": lambda _: at.ask(count),
    }


def _processor(at: Desk, size: Size, say: Say) -> tuple[list[Row], list[str]]:
    """Processor time of launcher and worker, until the event is in the graph."""
    say(f"processor time: {size.rounds} rounds")
    launcher: dict[str, list[float]] = {}
    worker: dict[str, list[float]] = {}
    pid = int(at.status()["pid"])

    def once(name: str, fired: Callable[[], Fired]) -> Callable[[int], object]:
        def work(number: int) -> None:
            before = clock(pid)
            done = fired()
            at.stored()
            if number >= size.warm:
                launcher.setdefault(name, []).append(done.cpu_ms)
                worker.setdefault(name, []).append(clock(pid) - before)

        return work

    cases = {
        "bare": once("bare", lambda: at.run([at.bare()])),
        "event": once("event", lambda: at.run([at.hook("PostToolUse")])),
        "prompt": once("prompt", lambda: at.ask(1)),
    }
    interleaved(cases, rounds=size.rounds, warm=size.warm)
    bare = launcher["bare"]
    whole = {
        name: [a + b for a, b in zip(launcher[name], worker[name], strict=True)]
        for name in ("event", "prompt")
    }
    told = ", ".join(
        f"{name} {statistics.median(launcher[name]):.1f} + {statistics.median(worker[name]):.1f}"
        for name in whole
    )
    return [
        Row(
            "event without an answer, processor time of launcher and worker against a bare"
            " interpreter",
            ratio(whole["event"], bare),
            2.5,
        ),
        Row("prompt with recall, the same", ratio(whole["prompt"], bare)),
    ], [f"processor ms, launcher + worker, medians: {told}; bare {statistics.median(bare):.1f}"]


def _apart(at: Desk, size: Size, say: Say) -> tuple[list[Row], list[str]]:
    """One event by one launcher, and by four programs that each bring the driver along."""
    say(f"four separate programs: {size.apart} rounds")
    pid = int(at.status()["pid"])
    cpu: dict[str, list[float]] = {"ours": [], "separate": []}

    def ours(number: int) -> None:
        before = clock(pid)
        done = at.run([at.registered("Stop")])
        walls["ours"].append(done.wall_ms)
        at.stored()
        cpu["ours"].append(done.cpu_ms + clock(pid) - before)

    def separate(number: int) -> None:
        done = at.run(at.separate("Stop"))
        walls["separate"].append(done.wall_ms)
        cpu["separate"].append(done.cpu_ms)

    walls: dict[str, list[float]] = {"ours": [], "separate": []}
    interleaved({"ours": ours, "separate": separate}, rounds=size.apart, warm=2)
    walls = {name: row[2:] for name, row in walls.items()}
    cpu = {name: row[2:] for name, row in cpu.items()}
    lines = [
        f"one Stop, {name}: {spread(walls[name])} ms wall, {spread(cpu[name])} ms processor"
        for name in walls
    ]
    four = f"{len(PARTS)} `uv run --script` hooks that import the driver, against our one"
    return [
        Row(f"{four}: processor time", ratio(cpu["separate"], cpu["ours"]), 20.0, "at least"),
        Row(f"{four}: wall time", ratio(walls["separate"], walls["ours"]), 10.0, "at least"),
    ], lines


@contextlib.contextmanager
def desk(store: Server) -> Iterator[Desk]:
    """A user's home on the store, a project with a remote, a warm worker; stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="mkg-hooks-") as folder:
        home, project = Path(folder) / "home", Path(folder) / "shop"
        for path in (home, project / ".git"):
            path.mkdir(parents=True)
        (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        (project / ".git" / "config").write_text(
            f'[remote "origin"]\n\turl = {REMOTE}\n', encoding="utf-8"
        )
        store.write_user_file(home)
        env = user_env(
            home,
            UV_CACHE_DIR=str(shared_cache() / "bench-uv"),
            MKG_BENCH_URI=store.uri,
            MKG_BENCH_USER=store.username,
            MKG_BENCH_PASSWORD=store.password,
        )
        at = Desk(home, project, env, store)
        before = Path.cwd()
        try:
            _prepare(at)
            os.chdir(project)
            yield at
        finally:
            os.chdir(before)
            _mkg(at, "worker", "stop")


def _prepare(at: Desk) -> None:
    """Start the worker, register a client, let uv fetch the driver, warm everything."""
    _mkg(at, "worker", "start")
    _mkg(at, "install", "claude", "--yes")
    fetched = subprocess.run(
        [
            str(Path(sys.executable).with_name("uv")),
            "run",
            "--system-certs",
            "--python",
            sys.executable,
            "--script",
            str(SEPARATE),
            "warm",
        ],
        input=at.payload("Stop"),
        env={**os.environ, **at.env},
        capture_output=True,
        check=False,
    )
    if fetched.returncode != 0:
        raise RuntimeError(f"uv could not run the script: {fetched.stderr.decode()[-400:]}")
    _mkg(at, "worker", "drain", "--timeout", "120")
    status = at.status()
    if (status["embedder"], status["graph"]) != ("ready", "up"):
        raise RuntimeError(f"the worker is not warm: {status}")


def _mkg(at: Desk, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkg", *words], env=at.env, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise RuntimeError(f"mkg {' '.join(words)}: {done.stderr[-400:]}")
