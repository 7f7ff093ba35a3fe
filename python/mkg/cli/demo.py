"""`mkg demo`: a recorded session becomes a memory that changes the next answer, step by step."""

import json
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from mkg.errors import MkgError, Refused
from mkg.settings import Settings

TRIES = 3
DRAIN = "180"
"""Seconds; the first statements after a start are planned while the machine is busy with it."""

out = Console(highlight=False, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a demo plays: its settings, the environment of its hooks, the folder of its project."""

    settings: Settings
    env: dict[str, str]
    project: Path


def demo(
    transcript: Annotated[
        Path | None, typer.Option(help="Your own Claude Code transcript (.jsonl) instead.")
    ] = None,
    ask: Annotated[str | None, typer.Option(help="The prompt of the second session.")] = None,
    into_my_store: Annotated[
        bool, typer.Option("--into-my-store", help="Use your store instead of the demo's own.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the demo's database running afterwards.")
    ] = False,
) -> None:
    """Show the whole path: a session is captured, learned from, and answers a later prompt."""
    first, second = _stories(transcript, ask)
    stage = _stage(into_my_store)
    try:
        _up(stage, fresh=not into_my_store)
        session = _play(stage, first, "first session")
        project_id = _show_learned(stage, session)
        told = _second(stage, second, project_id)
        _why(stage, told)
    finally:
        _down(stage, keep or into_my_store)


def _stories(transcript: Path | None, ask: str | None) -> tuple[list[Any], list[Any]]:
    from mkg.bundle.files import root

    if transcript is not None:
        from mkg.features.timeline.transcript import read

        replay = read(transcript)
        out.print(
            f"read [b]{escape(transcript.name)}[/b]: {replay.prompts} prompts, "
            f"{len(replay.events)} events, {replay.skipped} lines skipped"
        )
        if ask is None:
            ask = "What should I know about this project before I go on?"
            out.print('(give --ask "..." to choose the prompt of the second session)')
        return replay.events, _question(ask)
    folder = root("plugin") / "demo"
    first = _recorded(folder / "session_one.jsonl")
    return first, _question(ask) if ask else _recorded(folder / "session_two.jsonl")


def _recorded(path: Path) -> list[tuple[str, dict[str, Any]]]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return [(line["event"], line["payload"]) for line in lines]


def _question(text: str) -> list[tuple[str, dict[str, Any]]]:
    prompt = {"prompt": text, "prompt_id": uuid.uuid4().hex}
    names = (("SessionStart", {"source": "startup"}), ("UserPromptSubmit", prompt))
    base = {"session_id": uuid.uuid4().hex, "cwd": "{{CWD}}"}
    return [(name, {**base, "hook_event_name": name, **extra}) for name, extra in names]


def _stage(into_my_store: bool) -> Stage:
    from mkg.cli.own_store import own_store
    from mkg.private import private_dir
    from mkg.settings import load_settings, subprocess_env

    settings = load_settings()
    if not into_my_store:
        settings = own_store(settings, "demo", user_id="demo")
    project = private_dir(settings.home / "demo-project")
    (project / ".mkg.toml").write_text('name = "shop"\n', encoding="utf-8")
    env = {k: v for k, v in subprocess_env().items() if not k.startswith(("NEO4J_", "XDG_RUN"))}
    env |= {"MKG_HOME": str(settings.home), "MKG_CACHE": str(settings.cache)}
    env |= {"CLAUDECODE": "1"}
    env.pop("CLAUDE_PROJECT_DIR", None)
    if not into_my_store:
        env |= {"MKG_CONFIG_DIR": str(settings.config_dir), "MKG_USER_ID": "demo"}
    return Stage(settings, env, project)


def _up(stage: Stage, *, fresh: bool) -> None:
    from mkg import localdb
    from mkg.pointer import write_pointer
    from mkg.settings import subprocess_env

    out.rule("1. the store")
    if fresh:
        localdb.reset(stage.settings)
        shutil.rmtree(stage.settings.paths.spool_dir, ignore_errors=True)
    status = localdb.up(
        stage.settings,
        progress=lambda text: out.print(f"  {escape(text)}"),
        env=subprocess_env(),
    )
    out.print(f"  Neo4j answers at [b]{escape(status.uri or '')}[/b]")
    write_pointer(stage.settings)
    _mkg(stage, "worker", "start")


def _play(stage: Stage, events: list[Any], title: str) -> str:
    """Send events through the real launcher, as the client would; returns the session's id."""
    out.rule(f"2. a {title}, through the hooks")
    session = ""
    for name, payload in events:
        payload = _placed(stage, payload)
        session = payload["session_id"]
        _hook(stage, name, payload)
        out.print(f"  {name:<20} {escape(_gist(payload))}")
    _mkg(stage, "worker", "drain", "--timeout", DRAIN)
    return session


def _second(stage: Stage, events: list[Any], project_id: str) -> str:
    out.rule("4. a second session asks")
    told = ""
    for name, payload in events:
        payload = _placed(stage, payload)
        if name not in {"SessionStart", "UserPromptSubmit"}:
            continue
        if name == "UserPromptSubmit":
            out.print(f"  the user types: [b]{escape(payload['prompt'])}[/b]")
        text = _told(stage, name, payload)
        out.print(f"  what the client is given at {name}:")
        out.print(escape(_indented(text)) if text else "    (nothing: nothing bears on it)")
        if name == "UserPromptSubmit" or not told:
            told = text or told
    _mkg(stage, "worker", "drain", "--timeout", DRAIN)
    return told


def _told(stage: Stage, name: str, payload: dict[str, Any]) -> str:
    """The context of one answer; a late one is said, and the prompt is given again."""
    for _ in range(TRIES):
        answer = json.loads(_hook(stage, name, payload) or "{}")
        if "systemMessage" not in answer:
            return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))
        out.print(f"  [yellow]{escape(answer['systemMessage'])}[/yellow] Asking again.")
        payload = {**payload, "prompt_id": uuid.uuid4().hex}
        _mkg(stage, "worker", "drain", "--timeout", DRAIN)
    return ""


def _show_learned(stage: Stage, session: str) -> str:
    from mkg.cli.basics import visible
    from mkg.db import connect
    from mkg.features import gate, learnings, timeline
    from mkg.features.learnings import story
    from mkg.features.timeline.episode import episode_id

    out.rule("3. what was learned, what waits, what was withheld")
    with connect(stage.settings, caller="demo") as run:
        scope = timeline.scope(run, session_id=session)
        if scope is None:
            raise MkgError("the session did not reach the store; see `mkg db logs`")
        project_id = scope.project_id or ""
        owners = [f"project:{project_id}", f"user:{scope.user_id}"]
        for owner in owners:
            rows = learnings.recent(
                run,
                owner_key=owner,
                statuses=["approved"],
                injectable_only=True,
                session_id=None,
                excluded=[],
                limit=20,
            )
            for row in rows:
                for found in story.of(run, row.id):
                    first, *rest = (visible(line) for line in story.lines(found))
                    out.print(f"[green]  learned[/green]  {escape(first)}")
                    out.print(escape(_indented("\n".join(rest), 11)))
        for owner in owners:
            for row in gate.waiting(run, owner_key=owner, limit=20):
                out.print(f"[yellow]  waits[/yellow]    {escape(row.text)}")
                out.print(f"           {escape(row.reason or '')} (origin {row.origin})")
        for row in gate.blocked_recently(run, project_id=project_id, limit=20):
            out.print(f"[red]  withheld[/red] {escape(row.category)}: {escape(row.reason)}")
        found = timeline.fetch_episode(
            run, episode_id=episode_id(project_id, session), project_id=project_id
        )
        if found is not None:
            out.print(f"[cyan]  episode[/cyan]  {escape(found.title)}")
            for fact in found.facts:
                out.print(f"           - {escape(fact)}")
    return project_id


def _why(stage: Stage, told: str) -> None:
    out.rule("5. why did you tell me this?")
    ids = [line["id"] for line in _json_lines(told) if "id" in line]
    if not ids:
        raise Refused("the second session was told nothing; the demo has failed")
    out.print(f"  $ mkg why {ids[0]}")
    out.print(escape(_indented(_mkg(stage, "why", ids[0]))))


def _json_lines(text: str) -> Iterator[dict[str, Any]]:
    for line in text.split("\n"):
        if line.startswith("{"):
            yield json.loads(line)


def _down(stage: Stage, keep: bool) -> None:
    from mkg import localdb

    if keep:
        out.print(f"left running: MKG_HOME={stage.settings.home} mkg db status")
        return
    _mkg(stage, "worker", "stop", check=False)
    localdb.down(stage.settings)
    out.print("the demo's database and worker are stopped")


def _placed(stage: Stage, payload: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(payload)
    text = text.replace("{{CWD}}", str(stage.project)).replace("{{HOME}}", str(stage.settings.home))
    placed = json.loads(text)
    if not Path(str(placed.get("cwd") or "")).is_dir():
        # Somebody else's transcript: its folder may not exist here.
        placed["cwd"] = str(stage.project)
    return placed


def _hook(stage: Stage, event: str, payload: dict[str, Any]) -> str:
    """One event, exactly as a client sends it: a process, JSON on stdin, the answer on stdout."""
    from mkg.bundle.files import root

    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(root("hooks") / "launch.py"), "claude", event],
            input=json.dumps(payload).encode(),
            env=stage.env,
            cwd=elsewhere,
            capture_output=True,
            timeout=30,
        )
    if done.returncode:
        raise MkgError(f"the hook for {event} ended with {done.returncode}")
    return done.stdout.decode()


def _mkg(stage: Stage, *words: str, check: bool = True) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mkg", *words],
        env=stage.env,
        capture_output=True,
        text=True,
        timeout=240,
    )
    if check and done.returncode:
        raise MkgError(f"mkg {' '.join(words)} failed: {done.stderr.strip()[-300:]}")
    return done.stdout


def _gist(payload: dict[str, Any]) -> str:
    for key in ("prompt", "error", "last_assistant_message", "tool_name", "source", "reason"):
        if payload.get(key):
            text = " ".join(str(payload[key]).split())
            return text if len(text) < 90 else text[:87] + "..."
    return ""


def _indented(text: str, by: int = 4) -> str:
    return "\n".join(" " * by + line for line in text.rstrip().split("\n"))
