"""Record hook payloads of the real Claude Code against the scripted model.

    python -m tests.clients.record CLAUDE_BINARY [STORY...]

Writes the demo's two sessions (`plugin/demo/`) and, under `tests/fixtures/session_claude/`, the
other stories and two transcripts. A line of a story is {"event": NAME, "payload": {...}}; the home
and the project folder are replaced by `{{HOME}}` and `{{CWD}}`. Run it again when the pinned
client changes.
"""

import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients import stories
from tests.clients.kit import clients
from tests.clients.kit.stub_model import StubModel

ROOT = Path(__file__).resolve().parents[2]
EVENTS = tuple(json.loads((ROOT / "plugin/claude/hooks.json").read_text("utf-8"))["hooks"])
HOOK = ROOT / "tests/clients/record_hook.py"
PROJECT = "orders"
# The other kinds of line hold the client's own prompts and tool descriptions.
KEPT_LINES = {"user", "assistant", "system", "last-prompt", "mode", "queue-operation"}
Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Recording:
    """What one story left behind."""

    events: list[Line]
    transcript: list[Line]


def main() -> None:
    """Record every story into its file."""
    program = sys.argv[1]
    demo, fixtures = ROOT / "plugin/demo", ROOT / "tests/fixtures/session_claude"
    for story in stories.STORIES:
        if sys.argv[2:] and story.name not in sys.argv[2:]:
            continue
        folder = demo if story.demo else fixtures
        recording = record(program, story)
        write(folder / f"{story.name}.jsonl", recording.events)
        if story.transcript:
            write(fixtures / f"transcript_{story.name}.jsonl", recording.transcript)
        print(story.name, [line["event"] for line in recording.events])


def write(path: Path, lines: list[Line]) -> None:
    """One JSON object a line."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def record(program: str, story: stories.Story) -> Recording:
    """Play one story in a fresh home; returns what hooks and transcript said, with placeholders."""
    with tempfile.TemporaryDirectory() as scratch, StubModel() as stub:
        home, cwd = Path(scratch) / "home", Path(scratch) / PROJECT
        stub.rules = json.loads(json.dumps(story.rules).replace("{{CWD}}", str(cwd)))
        for name, content in story.files.items():
            (cwd / name).parent.mkdir(parents=True, exist_ok=True)
            (cwd / name).write_text(content, encoding="utf-8")
        log = Path(scratch) / "hooks.jsonl"
        hook = f"python3 {HOOK} {{event}}"
        client = clients.Claude(program, home, stub.url, cwd=cwd, env={"RECORD_LOG": log})
        options = {
            "settings": {"hooks": clients.hook_table(EVENTS, hook)},
            "allowed": story.allowed,
            "args": ("--permission-mode", story.mode),
        }
        if story.interactive:
            play(client, story, options, lambda: clients.read_jsonl(log))
        else:
            for prompt in story.prompts:
                result = client.run(prompt, **options)
                if result.rc != 0:
                    raise RuntimeError(f"{story.name}: {result.err or result.out[-2000:]}")
        events = [placeholders(line, home, cwd) for line in clients.read_jsonl(log)]
        main_file = str(events[0]["payload"]["session_id"]) + ".jsonl"
        lines = [
            placeholders(line, home, cwd)
            for path in client.transcripts()
            if Path(path).name == main_file
            for line in clients.read_jsonl(path)
            if line["type"] in KEPT_LINES
        ]
        return Recording(events, lines)


def play(
    client: clients.Claude,
    story: stories.Story,
    options: Line,
    seen: Callable[[], list[Line]],
) -> None:
    """Type the prompts into the interactive client, each after the answer to the one before."""
    terminal = client.interactive(**options)

    def count(*names: str) -> int:
        return sum(line["event"] in names for line in seen())

    if not terminal.wait(lambda: count("SessionStart") == 1):
        raise RuntimeError(
            "the client did not start: " + terminal.text[-2000:].decode("utf-8", "replace")
        )
    terminal.pump(2)
    for prompt in story.prompts:
        command = prompt.startswith("/")
        awaited = ("SessionStart",) if command else ("Stop",)
        before = count(*awaited)
        terminal.type(prompt)
        if story.mode == "default":
            terminal.wait(lambda: count("Notification") == 1)
            os.write(terminal.fd, b"\r")
        if not terminal.wait(lambda names=awaited, n=before: count(*names) > n, timeout=60):
            raise RuntimeError(f"no answer to {prompt!r}: " + str([x["event"] for x in seen()]))
        terminal.pump(1.5)
    answers = count("Stop")
    if not terminal.wait(lambda: count("Stop") >= answers + story.later, timeout=120):
        raise RuntimeError("the prompt that comes by itself did not come")
    terminal.type("/exit")
    terminal.close()


def placeholders(line: Line, home: Path, cwd: Path) -> Line:
    """One log line without anything of the machine it was recorded on."""
    text = json.dumps(line, ensure_ascii=False)
    text = text.replace(re.sub(r"[^A-Za-z0-9]", "-", str(cwd)), f"-home-dev-{PROJECT}")
    text = text.replace(str(cwd), "{{CWD}}").replace(str(home), "{{HOME}}")
    text = text.replace(sys.base_prefix, "/usr").replace(str(cwd.parent), "/tmp")
    text = text.replace(str(ROOT), "/opt/mkg")
    text = re.sub(r"toolu_stub\w+", lambda m: tool_id(m.group()), text)
    return json.loads(text)


def tool_id(stub_id: str) -> str:
    """An id of the length and form that the real model gives to a tool call."""
    return "toolu_01" + hashlib.sha256(stub_id.encode()).hexdigest()[:22]


if __name__ == "__main__":
    main()
